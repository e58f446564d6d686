"""QRIS, Indonesia's payment code: the EMVCo objects of its national standard."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from processors.content_types.checks import check_choice, check_pattern
from processors.content_types.declaration import Declaration, check, refused
from processors.content_types.emvco import Emvco
from processors.errors import RequestRefused

NATIONAL: Final = "ID.CO.QRIS.WWW"
CRITERIA: Final = ("UMI", "UKE", "UME", "UBE", "URE", "PSO", "BLU")
"""Size of the merchant's business (micro, small, medium, large), donations, public service, government aid."""
_RUPIAH: Final = "360"
_IDENTIFIER: Final = re.compile(r"[A-Z0-9][A-Z0-9.-]{2,31}")
_PAN: Final = re.compile(r"9360[0-9]{11,15}")
_MERCHANT_ID: Final = re.compile(r"[A-Za-z0-9]{1,15}")
_NMID: Final = re.compile(r"ID[0-9]{13}")
_TERMINAL: Final = re.compile(r"[ -~]{1,25}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Qris:
    """A merchant's account at its acquirer (26) and in the national registry (51)."""

    DECLARED: ClassVar = Declaration(
        name="qris",
        summary="an Indonesian payment code (QRIS)",
        standard="QRIS as Bank Indonesia and ASPI profile EMVCo: templates 26 (acquirer) and 51 (ID.CO.QRIS.WWW), currency 360, country ID",
        example={
            "acquirer": "ID.CO.EXAMPLE.WWW", "merchant_pan": "936000990000000017", "merchant_id": "17", "criteria": "UMI",
            "nmid": "ID1020000000017", "category": "5812", "name": "Warung Contoh", "city": "Bandung", "postal_code": "40111", "amount": "15000",
        },
        notes=(
            ("The numbers are those that the acquirer gave the merchant. For a bill from the merchant's printed code, use `emvco` with "
            "`from_text` and `amount`: nothing has to be typed again."),
        ),
    )

    acquirer: Annotated[str, "the acquirer's identifier, such as ID.CO.EXAMPLE.WWW"]
    merchant_pan: Annotated[str, "the merchant's account number: 9360 and 11 to 15 digits"]
    merchant_id: Annotated[str, "the acquirer's number of the merchant, up to 15 letters and digits"]
    criteria: Annotated[str, "UMI, UKE, UME, UBE, URE, PSO or BLU"]
    nmid: Annotated[str, "National Merchant ID: ID and 13 digits"]
    category: Annotated[str, "merchant category code, 4 digits (ISO 18245)"]
    name: Annotated[str, "the merchant, up to 25 characters"]
    city: Annotated[str, "up to 15 characters"]
    postal_code: Annotated[str, "5 digits"]
    amount: Annotated[str | float | None, "rupiah; makes the code one for this payment"] = None
    tip: Annotated[str | None, "prompt, fixed or percent, as in emvco"] = None
    fee: Annotated[str | float | None, "as in emvco"] = None
    terminal: Annotated[str | None, "label of the terminal"] = None
    reference: Annotated[str | None, "label of the payment"] = None

    def content(self) -> str:
        """`000201010211…6304` and the CRC. Raises RequestRefused (invalid_payload)."""
        check(self)
        check_choice(self, "criteria", self.criteria, CRITERIA)
        check_pattern(self, "acquirer", self.acquirer, _IDENTIFIER, "a name in capitals such as ID.CO.EXAMPLE.WWW")
        check_pattern(self, "merchant_pan", self.merchant_pan, _PAN, "9360 and 11 to 15 digits")
        check_pattern(self, "merchant_id", self.merchant_id, _MERCHANT_ID, "1 to 15 letters and digits")
        check_pattern(self, "nmid", self.nmid, _NMID, "ID and 13 digits")
        check_pattern(self, "postal_code", self.postal_code, re.compile("[0-9]{5}"), "5 digits")
        for field in ("terminal", "reference"):
            if getattr(self, field) is not None:
                check_pattern(self, field, getattr(self, field), _TERMINAL, "1 to 25 printable ASCII characters")
        additional = {identifier: value for identifier, value in (("05", self.reference), ("07", self.terminal)) if value is not None}
        code = Emvco(
            accounts={
                "26": {"00": self.acquirer, "01": self.merchant_pan, "02": self.merchant_id, "03": self.criteria},
                "51": {"00": NATIONAL, "02": self.nmid, "03": self.criteria},
            },
            category=self.category, currency=_RUPIAH, amount=self.amount, tip=self.tip, fee=self.fee, country="ID",
            name=self.name, city=self.city, postal_code=self.postal_code, additional=additional or None,
        )
        try:
            return code.content()
        except RequestRefused as refusal:
            field, _, what = refusal.message.removeprefix("payload emvco, ").partition(": ")
            raise refused(self, field, what) from refusal
