"""A merchant's code to pay by (EMVCo, merchant-presented mode); QRIS, PIX, PromptPay and others are made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar, Final

from processors.content_types.checks import check_choice, check_length, check_line, check_pattern, decimal_of
from processors.content_types.declaration import Declaration, Objects, check, refused
from processors.content_types.tlv import CRC_ID, CRC_LENGTH, LONGEST_VALUE, data_object, taken_apart, with_crc

LONGEST: Final = 512
"""EMVCo merchant-presented mode 1.1, requirements, payload length: characters, fewer where some take several bytes."""
STATIC, DYNAMIC = "11", "12"
"""Data object 01: one code for many payments, or one for each."""
TIPS: Final[Mapping[str, str]] = {"prompt": "01", "fixed": "02", "percent": "03"}

_AMOUNT: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_ID: Final = re.compile(r"[0-9]{2}")
_ASKED: Final = re.compile(r"[AME]{1,3}")
_ANS: Final = re.compile(r"[ -~]+")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2}")
_LOCAL_LENGTHS: Final = {"01": 25, "02": 15}
_ADDITIONAL_TEMPLATES: Final = 50
_LONGEST_UNIQUE_ID: Final = 32
_MOST_AMOUNT: Final = 13
_MOST_PERCENT: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Emvco:
    """Data objects of a merchant, with their CRC."""

    DECLARED: ClassVar = Declaration(
        name="emvco",
        summary="a merchant's payment code (EMVCo: PIX, PromptPay, QRIS, …)",
        standard="EMVCo, QR Code Specification for Payment Systems, merchant-presented mode 1.1: data objects and requirements; CRC-16/CCITT-FALSE (section 4.7.3)",
        example={
            "accounts": {"26": {"00": "br.gov.bcb.pix", "01": "123e4567-e12b-12d1-a456-426655440000"}}, "category": "0000", "currency": "986",
            "country": "BR", "name": "Fulano de Tal", "city": "BRASILIA", "additional": {"05": "***"},
        },
        notes=(
            ("`from_text` takes a code that is there, such as a merchant's static QRIS, checks its CRC, and puts the members beside it in "
            'the place of its own (`additional` is merged): `{"type": "emvco", "from_text": "000201…", "amount": "15000"}` is the dynamic code of one bill.'),
            "With an amount the code is dynamic (data object 01 is 12), without one static (11), unless `initiation` says otherwise.",
            ("`additional` by id: 01 bill, 02 mobile number, 03 store, 04 loyalty number, 05 reference, 06 customer, 07 terminal, "
            "08 purpose, 09 what the app shall ask for (A, M, E)."),
            "Name and city have printable ASCII; `local` has them in the merchant's language: 00 language (ZH), 01 name, 02 city.",
        ),
    )

    from_text: Annotated[str | None, "a whole code with its CRC, to take all else from"] = None
    initiation: Annotated[str | None, "11 for many payments, 12 for one"] = None
    accounts: Annotated[Objects | None, "merchant account information by id, 02 to 51; templates from 26 on"] = None
    category: Annotated[str | None, "merchant category code, 4 digits (ISO 18245)"] = None
    currency: Annotated[str | None, "3 digits (ISO 4217): 360 rupiah, 986 real"] = None
    amount: Annotated[str | float | None, "up to 13 characters, not 0"] = None
    tip: Annotated[str | None, "prompt: the payer is asked; fixed or percent: `fee` is added"] = None
    fee: Annotated[str | float | None, "amount, or percentage from 0.01 to 99.99, by `tip`"] = None
    country: Annotated[str | None, "2 capitals (ISO 3166)"] = None
    name: Annotated[str | None, "the merchant, up to 25 characters"] = None
    city: Annotated[str | None, "up to 15 characters"] = None
    postal_code: Annotated[str | None, "up to 10 characters"] = None
    additional: Annotated[Objects | None, "additional data by id, 01 to 99"] = None
    local: Annotated[Objects | None, "name and city in another language, by id"] = None
    others: Annotated[Objects | None, "data objects 65 to 99 by id; templates from 80 on"] = None

    def content(self) -> str:
        """Data objects in ascending order (those of from_text in theirs), the CRC last. Raises RequestRefused (invalid_payload)."""
        check(self)
        objects = self._taken()
        additional = self._additional(objects)
        amount = self._amount()
        given: dict[str, str | None] = {
            "00": None if self.from_text else "01",
            "01": self._initiation(amount),
            **self._by_id("accounts", self.accounts, 2, 51, template_from=26),
            "52": self._matching("category", self.category, r"[0-9]{4}", "4 digits (ISO 18245)"),
            "53": self._matching("currency", self.currency, r"[0-9]{3}", "3 digits (ISO 4217), such as 360"),
            "54": amount,
            **self._tip(),
            "58": self._matching("country", self.country, r"[A-Z]{2}", "2 capitals (ISO 3166), such as ID"),
            "59": self._ans("name", self.name, 25),
            "60": self._ans("city", self.city, 15),
            "61": self._ans("postal_code", self.postal_code, 10),
            "62": additional,
            "64": self._local(),
            **self._by_id("others", self.others, 65, 99, template_from=80),
        }
        if self.tip is not None:
            objects = {identifier: value for identifier, value in objects.items() if identifier not in ("56", "57")}
        for identifier, value in given.items():
            if value is not None:
                objects = _put(objects, identifier, value)
        self._check_whole(objects)
        text = with_crc("".join(data_object(identifier, value) for identifier, value in objects.items()))
        if len(text.encode()) > LONGEST:
            raise refused(self, "accounts", f"and all else make {len(text.encode())} bytes; EMVCo takes at most {LONGEST}; leave something out")
        return text

    def _taken(self) -> dict[str, str]:
        if self.from_text is None:
            return {}
        check_line(self, "from_text", self.from_text)
        try:
            objects = taken_apart(self.from_text)
        except ValueError as error:
            raise refused(self, "from_text", f"is no EMV QR code: {error}; take it anew from the symbol") from error
        *_, last = objects
        if next(iter(objects)) != "00" or objects["00"] != "01" or last != CRC_ID or len(objects[CRC_ID]) != CRC_LENGTH:
            raise refused(self, "from_text", "is no EMV QR code: it begins with 000201 and ends with its CRC, 6304 and four digits; take it anew from the symbol")
        if with_crc(self.from_text[:-8]) != self.from_text[:-4] + self.from_text[-4:].upper():
            raise refused(self, "from_text", "has a wrong CRC; take it anew from the symbol")
        del objects[CRC_ID]
        return objects

    def _initiation(self, amount: str | None) -> str | None:
        if self.initiation is not None:
            check_choice(self, "initiation", self.initiation, (STATIC, DYNAMIC))
            return self.initiation
        if amount is not None:
            return DYNAMIC
        return None if self.from_text else STATIC

    def _amount(self) -> str | None:
        return None if self.amount is None else self._positive("amount", self.amount, _MOST_AMOUNT)

    def _positive(self, field: str, value: str | float, most: int) -> str:
        digits = decimal_of(self, field, value)
        if len(digits) > most or not _AMOUNT.fullmatch(digits) or not Decimal(digits):
            raise refused(self, field, f"must be digits with at most one point, {most} characters at most, and more than 0; such as 15000 or 12.50")
        return digits

    def _tip(self) -> dict[str, str | None]:
        if self.tip is None:
            if self.fee is not None:
                raise refused(self, "fee", "needs tip, fixed or percent, which says how it is meant")
            return {}
        check_choice(self, "tip", self.tip, TIPS)
        objects: dict[str, str | None] = {"55": TIPS[self.tip]}
        if (self.fee is None) != (self.tip == "prompt"):
            raise refused(self, "fee", "goes with tip fixed or percent, and not with prompt")
        if self.fee is not None and self.tip == "fixed":
            objects["56"] = self._positive("fee", self.fee, _MOST_AMOUNT)
        elif self.fee is not None:
            percent = self._positive("fee", self.fee, _MOST_PERCENT)
            if not Decimal("0.01") <= Decimal(percent) < 100:  # noqa: PLR2004 - per cent
                raise refused(self, "fee", "must be a percentage from 0.01 to 99.99")
            objects["57"] = percent
        return objects

    def _matching(self, field: str, value: str | None, pattern: str, wanted: str) -> str | None:
        if value is not None:
            check_pattern(self, field, value, re.compile(pattern), wanted)
        return value

    def _ans(self, field: str, value: str | None, most: int) -> str | None:
        if value is not None:
            check_length(self, field, value, most, "EMVCo")
            check_pattern(self, field, value, _ANS, "printable ASCII; other characters go into local")
        return value

    def _by_id(self, field: str, objects: Objects | None, least: int, most: int, *, template_from: int) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for identifier, value in sorted((objects or {}).items()):
            self._check_id(field, identifier, least, most)
            self._check_kind(f"{field} {identifier}", value, is_template=int(identifier) >= template_from, template_from=template_from)
            found[identifier] = self._value(f"{field} {identifier}", value) if isinstance(value, str) else self._template(f"{field} {identifier}", value, unique_id=True)
        return found

    def _check_kind(self, field: str, value: object, *, is_template: bool, template_from: int) -> None:
        if is_template == isinstance(value, str):
            raise refused(self, field, "must be an object of its data objects" if is_template else f"must be a string; templates have ids from {template_from} on")

    def _template(self, field: str, objects: Objects | None, *, unique_id: bool = False) -> str | None:
        if objects is None:
            return None
        # 00 names whose template it is.
        if unique_id and "00" not in objects:
            raise refused(self, field, "has no data object 00, the globally unique identifier that says whose it is")
        if unique_id and isinstance(objects["00"], str):
            self._ans(f"{field} 00", objects["00"], _LONGEST_UNIQUE_ID)
        text = ""
        for identifier, value in sorted(objects.items()):
            self._check_id(field, identifier, 0, 99)
            # Of the templates inside, additional data has those from 50 on.
            inner = value if isinstance(value, str) else self._template(f"{field} {identifier}", value, unique_id=True) or ""
            text += data_object(identifier, self._value(f"{field} {identifier}", inner))
        return self._value(field, text)

    def _additional(self, taken: Mapping[str, str]) -> str | None:
        """Data object 62: the data objects of from_text stay where no other is given."""
        if self.additional is None:
            return None
        for identifier, value in self.additional.items():
            self._check_id("additional", identifier, 1, 99)
            self._check_kind(f"additional {identifier}", value, is_template=int(identifier) >= _ADDITIONAL_TEMPLATES, template_from=_ADDITIONAL_TEMPLATES)
            if isinstance(value, str) and identifier <= "08":
                self._ans(f"additional {identifier}", value, 25)
            elif isinstance(value, str) and identifier == "09":
                check_pattern(self, "additional 09", value, _ASKED, "one or more of A, M and E")
        try:
            kept = taken_apart(taken.get("62", ""))
        except ValueError as error:
            raise refused(self, "from_text", f"has additional data that cannot be read: {error}; take it anew from the symbol") from error
        return self._template("additional", {**kept, **self.additional})

    def _local(self) -> str | None:
        if self.local is None:
            return None
        if not {"00", "01"} <= self.local.keys():
            raise refused(self, "local", "needs 00, the language in two letters (ISO 639), and 01, the merchant's name")
        for identifier, value in self.local.items():
            self._check_id("local", identifier, 0, 99)
            if not isinstance(value, str):
                raise refused(self, f"local {identifier}", "must be a string; there are no templates here")
            if identifier == "00":
                check_pattern(self, "local 00", value, _LANGUAGE, "two letters, such as ZH (ISO 639)")
            elif identifier in _LOCAL_LENGTHS:
                check_length(self, f"local {identifier}", value, _LOCAL_LENGTHS[identifier], "EMVCo")
        return self._template("local", self.local)

    def _value(self, field: str, value: str) -> str:
        if not value:
            raise refused(self, field, "is empty; leave it out")
        check_line(self, field, value)
        check_length(self, field, value, LONGEST_VALUE, "a data object")
        return value

    def _check_id(self, field: str, identifier: str, least: int, most: int) -> None:
        if not _ID.fullmatch(identifier) or not least <= int(identifier) <= most:
            raise refused(self, field, f"has an id that is not two digits from {least:02d} to {most}")

    def _check_whole(self, objects: Mapping[str, str]) -> None:
        """Refuse a code without what every one has."""
        for identifier, field in (("52", "category"), ("53", "currency"), ("58", "country"), ("59", "name"), ("60", "city")):
            if identifier not in objects:
                raise refused(self, field, f"is missing; EMVCo has it (data object {identifier}) in every code")
        if not any(2 <= int(identifier) <= 51 for identifier in objects):  # noqa: PLR2004 - ids of merchant account information
            raise refused(self, "accounts", "is missing; name at least one account to pay to (data objects 02 to 51)")


def _put(objects: Mapping[str, str], identifier: str, value: str) -> dict[str, str]:
    """Replace a data object where it stands, or put it before the first of a greater id."""
    if identifier in objects:
        return {**objects, identifier: value}
    before = [pair for pair in objects.items() if pair[0] < identifier]
    if list(objects.items())[: len(before)] != before:  # not in ascending order: the new one goes behind all
        return {**objects, identifier: value}
    return {**dict(before), identifier: value, **dict(list(objects.items())[len(before) :])}
