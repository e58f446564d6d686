"""A SEPA credit transfer, ready to sign (EPC069-12): GiroCode, "Zahlen mit Code"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Annotated, ClassVar, Final

from processors.content_types.checks import (
    check_choice,
    check_length,
    check_line,
    check_pattern,
    code_point,
    decimal_of,
    has_check_digits,
)
from processors.content_types.declaration import Declaration, check, refused

CHARACTER_SETS: Final[Mapping[str, str]] = MappingProxyType({
    "utf-8": "1", "iso-8859-1": "2", "iso-8859-2": "3", "iso-8859-4": "4",
    "iso-8859-5": "5", "iso-8859-7": "6", "iso-8859-10": "7", "iso-8859-15": "8",
})
"""EPC069-12 section 2: the number of each character set."""
VERSIONS: Final = ("002", "001")
MAX_BYTES: Final = 331
"""EPC069-12 section 2: what version 13 holds at level M."""

_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC: Final = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
_PURPOSE: Final = re.compile(r"[A-Z0-9]{1,4}")
_AMOUNT: Final = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,2})?")
_RF: Final = re.compile(r"RF[0-9]{2}[A-Za-z0-9]{1,21}")
_REFERENCE: Final = re.compile(r"[A-Za-z0-9/\-?:().,'+ ]{1,35}")
# The lengths of the registry of ISO 13616 for those who take part in SEPA; other countries are held to the pattern alone.
_IBAN_LENGTHS: Final = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL", 19: "MK SI", 20: "AT EE LT LU", 21: "CH HR LI LV", 22: "BG DE GB GG IE IM JE ME RS",
    24: "AD CZ ES MD RO SE SK", 25: "PT", 26: "IS", 27: "FR GR IT MC SM", 28: "AL CY HU PL", 31: "MT", 23: "GI",
}
_LENGTH_OF: Final = {country: length for length, countries in _IBAN_LENGTHS.items() for country in countries.split()}
_LENGTH_OF["VA"] = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Epc:
    """The data of one credit transfer in euro."""

    DECLARED: ClassVar = Declaration(
        name="epc",
        summary="a SEPA credit transfer (GiroCode)",
        standard="EPC069-12 version 2.1 section 2; ISO 13616 (IBAN), ISO 9362 (BIC), ISO 11649 (RF); EPC217-08 (characters)",
        example={"name": "Red Cross of Belgium", "iban": "BE72000000001616", "bic": "BPOTBEB1", "amount": "1", "purpose": "CHAR", "text": "Urgency fund", "information": "Sample EPC QR code"},
        notes=(
            ('EPC069-12 wants error correction level M, and version 13 or less: ask for `"error_correction": "m", "boost": false`. '
            "331 bytes are what fits then, and more is refused."),
            ("Names and texts may have the characters of the eight sets that EPC069-12 lists (Latin, Greek, Cyrillic). "
            "An IBAN and a reference are written without their blanks."),
        ),
    )

    name: Annotated[str, "who is paid, up to 70 characters"]
    iban: Annotated[str, "the account that is paid, without blanks"]
    bic: Annotated[str | None, "the bank that is paid; needed in version 001"] = None
    amount: Annotated[str | float | None, "euro, 0.01 to 999999999.99"] = None
    purpose: Annotated[str | None, "ISO 20022 purpose code, up to 4 letters"] = None
    reference: Annotated[str | None, "structured remittance information, up to 35 characters; excludes `text`"] = None
    text: Annotated[str | None, "unstructured remittance information, up to 140 characters"] = None
    information: Annotated[str | None, "for the payer to read, up to 70 characters"] = None
    version: Annotated[str, "002 or 001"] = "002"
    character_set: Annotated[str, "utf-8, or iso-8859-1, -2, -4, -5, -7, -10, -15"] = "utf-8"

    def content(self) -> str | bytes:
        """Lines from `BCD` on, a str in UTF-8 and bytes in the other sets. Raises RequestRefused (invalid_payload)."""
        check(self)
        check_choice(self, "version", self.version, VERSIONS)
        check_choice(self, "character_set", self.character_set, CHARACTER_SETS)
        self._check_account()
        self._check_remittance()
        for field, most in (("name", 70), ("text", 140), ("information", 70)):
            self._check_words(field, most)
        elements = (
            "BCD", self.version, CHARACTER_SETS[self.character_set], "SCT", self.bic, self.name, self.iban, self._amount(),
            self.purpose, self.reference, self.text, self.information,
        )
        # Section 2: a line feed behind each element but the last that is there.
        lines = "\n".join(element or "" for element in elements).rstrip("\n")
        encoded = lines.encode(self.character_set)
        if len(encoded) > MAX_BYTES:
            raise refused(self, "text", f"makes {len(encoded)} bytes in all; EPC069-12 takes at most {MAX_BYTES}; shorten a text")
        return lines if self.character_set == "utf-8" else encoded

    def _check_account(self) -> None:
        check_pattern(self, "iban", self.iban, _IBAN, "an IBAN in capitals without blanks, such as DE71110220330123456789 (ISO 13616)")
        country = self.iban[:2]
        if len(self.iban) != _LENGTH_OF.get(country, len(self.iban)):
            raise refused(self, "iban", f"has {len(self.iban)} characters; an IBAN of {country} has {_LENGTH_OF[country]} (ISO 13616)")
        if not has_check_digits(self.iban):
            raise refused(self, "iban", "has wrong check digits (ISO 13616, modulo 97); compare it with the original")
        if self.bic is not None:
            check_pattern(self, "bic", self.bic, _BIC, "a BIC of 8 or 11 capitals and digits, such as BPOTBEB1 (ISO 9362)")
        elif self.version == "001":
            raise refused(self, "bic", "is missing; version 001 needs it, version 002 does not (EPC069-12 section 2)")

    def _check_remittance(self) -> None:
        if self.purpose is not None:
            check_pattern(self, "purpose", self.purpose, _PURPOSE, "1 to 4 capitals or digits, such as CHAR (ISO 20022)")
        if self.reference is None:
            return
        if self.text is not None:
            raise refused(self, "text", "excludes reference (EPC069-12 section 2); send one of them")
        check_pattern(self, "reference", self.reference, _REFERENCE, "1 to 35 of letters, digits, / - ? : ( ) . , ' + and blank")
        if self.reference.startswith("RF") and not (_RF.fullmatch(self.reference) and has_check_digits(self.reference)):
            raise refused(self, "reference", "begins with RF, and is no creditor reference with right check digits (ISO 11649), without blanks; compare it with the original")

    def _check_words(self, field: str, most: int) -> None:
        text: str | None = getattr(self, field)
        if text is None:
            return
        check_line(self, field, text)
        check_length(self, field, text, most, "EPC069-12")
        allowed = _characters(self.character_set)
        for place, character in enumerate(text, 1):
            if character not in allowed:
                raise refused(self, field, f"character {place} ({code_point(character)}) is not in the character set {self.character_set} of a credit transfer; write it with letters that banks know (EPC217-08)")

    def _amount(self) -> str | None:
        if self.amount is None:
            return None
        digits = decimal_of(self, "amount", self.amount)
        check_pattern(self, "amount", digits, _AMOUNT, "0.01 to 999999999.99 with at most two decimals and no leading zero, such as 12.50")
        if not Decimal(digits):
            raise refused(self, "amount", "is nothing; write 0.01 or more, or leave it out for the payer to fill in")
        return f"EUR{digits}"


@cache
def _characters(character_set: str) -> frozenset[str]:
    """The printable characters of a set; of UTF-8, those that any of the other sets has."""
    sets = [name for name in CHARACTER_SETS if name != "utf-8"] if character_set == "utf-8" else [character_set]
    every = bytes(range(256))
    found = {character for name in sets for character in every.decode(name, "ignore")}
    return frozenset(character for character in found if unicodedata.category(character)[0] != "C")
