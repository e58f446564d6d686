"""A business card: vCard 3.0 (RFC 2426)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Final

from processors.content_types.checks import code_point
from processors.content_types.declaration import Declaration, check, refused
from processors.content_types.email import check_address
from processors.content_types.url import check_url

_ESCAPES: Final = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
# RFC 2425 section 5.8.4: a value has no control character but HTAB.
_FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LONGEST_LINE: Final = 75
"""RFC 2426 section 2.6: octets of a line, without its end."""
_NAME_PARTS: Final = ("family_name", "given_name", "additional_names", "prefix", "suffix")
_ADDRESS_PARTS: Final = ("po_box", "extended_address", "street", "city", "region", "postal_code", "country")
_TELEPHONES: Final = (("phones", "VOICE"), ("mobile_phones", "CELL"), ("work_phones", "WORK,VOICE"), ("home_phones", "HOME,VOICE"), ("faxes", "FAX"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Vcard:
    """One person or organisation."""

    DECLARED: ClassVar = Declaration(
        name="vcard",
        summary="a contact for the address book",
        standard="vCard 3.0: RFC 2426 sections 3 and 4; lines as RFC 2425 section 5.8.1",
        example={"name": "Ada Lovelace", "family_name": "Lovelace", "given_name": "Ada", "mobile_phones": ["+44 20 7946 0000"], "emails": ["ada@example.com"]},
        notes=(
            ("Version 3.0, not 4.0 (RFC 6350): telephones have read 3.0 for as long as they have scanned codes, many still know "
            "nothing else, and nothing that fits in a symbol needs 4.0."),
            "Both FN and N are written, as RFC 2426 wants: FN from `name`, or else from the parts; N from the parts, or else `name` alone.",
            ("Lines end with CRLF and are folded at 75 bytes, never within a character. `\\`, `;`, `,` and line breaks are escaped. "
            "A telephone number is free text here, blanks and all."),
        ),
    )

    name: Annotated[str | None, "the name as it is shown (FN)"] = None
    family_name: Annotated[str | None, "part of the name"] = None
    given_name: Annotated[str | None, "part of the name"] = None
    additional_names: Annotated[str | None, "part of the name"] = None
    prefix: Annotated[str | None, "before the name: Dr."] = None
    suffix: Annotated[str | None, "behind the name: Jr."] = None
    nickname: Annotated[str | None, "another name"] = None
    organization: Annotated[str | None, "company or the like"] = None
    department: Annotated[str | None, "unit of the organization"] = None
    title: Annotated[str | None, "job title"] = None
    phones: Annotated[tuple[str, ...], "telephone numbers"] = ()
    mobile_phones: Annotated[tuple[str, ...], "numbers of mobile phones"] = ()
    work_phones: Annotated[tuple[str, ...], "numbers at work"] = ()
    home_phones: Annotated[tuple[str, ...], "numbers at home"] = ()
    faxes: Annotated[tuple[str, ...], "numbers of fax machines"] = ()
    emails: Annotated[tuple[str, ...], "e-mail addresses"] = ()
    urls: Annotated[tuple[str, ...], "web addresses, as those of url"] = ()
    po_box: Annotated[str | None, "part of the address"] = None
    extended_address: Annotated[str | None, "part of the address: floor, door"] = None
    street: Annotated[str | None, "part of the address"] = None
    city: Annotated[str | None, "part of the address"] = None
    region: Annotated[str | None, "part of the address"] = None
    postal_code: Annotated[str | None, "part of the address"] = None
    country: Annotated[str | None, "part of the address"] = None
    birthday: Annotated[str | None, "a date: 1815-12-10"] = None
    note: Annotated[str | None, "text of any lines"] = None

    def content(self) -> str:
        """`BEGIN:VCARD` to `END:VCARD`. Raises RequestRefused (invalid_payload)."""
        check(self)
        lines = ["BEGIN:VCARD", "VERSION:3.0", *self._names(), *self._details(), "END:VCARD"]
        return "".join(f"{_folded(line)}\r\n" for line in lines)

    def _names(self) -> list[str]:
        shown = self.name or " ".join(getattr(self, part) for part in ("prefix", "given_name", "additional_names", "family_name", "suffix") if getattr(self, part))
        shown = shown or self.organization or ""
        if not shown:
            raise refused(self, "name", "is missing; write a name, a part of it, or an organization (RFC 2426 section 3.1.1)")
        parts = [self._text(part) for part in _NAME_PARTS]
        formatted = self._escaped("organization" if shown is self.organization else "name", shown)
        if not any(parts):
            parts[0] = formatted
        return [f"FN:{formatted}", f"N:{';'.join(parts)}"]

    def _details(self) -> list[str]:
        lines = self._texts_of(("nickname", "NICKNAME"))
        if self.department is not None and self.organization is None:
            raise refused(self, "department", "needs the organization that it is a unit of (RFC 2426 section 3.5.5)")
        if self.organization is not None:
            lines.append(f"ORG:{self._text('organization')}" + (f";{self._text('department')}" if self.department is not None else ""))
        lines += self._texts_of(("title", "TITLE"))
        lines += [f"TEL;TYPE={kind}:{self._escaped(f'{field} {place}', number)}" for field, kind in _TELEPHONES for place, number in enumerate(getattr(self, field), 1)]
        for place, address in enumerate(self.emails, 1):
            check_address(self, f"emails {place}", address)
            lines.append(f"EMAIL;TYPE=INTERNET:{self._escaped(f'emails {place}', address)}")
        for place, url in enumerate(self.urls, 1):
            check_url(self, f"urls {place}", url)
            lines.append(f"URL:{url}")  # Section 3.6.8: a uri, which has no escapes.
        parts = [self._text(part) for part in _ADDRESS_PARTS]
        if any(parts):
            lines.append(f"ADR:{';'.join(parts)}")
        if self.birthday is not None:
            lines.append(f"BDAY:{self._date('birthday', self.birthday)}")
        return lines + self._texts_of(("note", "NOTE"))

    def _texts_of(self, *properties: tuple[str, str]) -> list[str]:
        return [f"{name}:{self._text(field)}" for field, name in properties if getattr(self, field) is not None]

    def _text(self, field: str) -> str:
        value: str | None = getattr(self, field)
        return "" if value is None else self._escaped(field, value)

    def _escaped(self, field: str, text: str) -> str:
        lines = text.replace("\r\n", "\n")
        found = _FORBIDDEN.search(lines)
        if found:
            raise refused(self, field, f"has {code_point(found[0])}, a control character that no vCard may hold (RFC 2425 section 5.8.4); leave it out")
        return lines.translate(_ESCAPES)

    def _date(self, field: str, text: str) -> str:
        try:
            if date.fromisoformat(text).isoformat() == text:
                return text
        except ValueError:
            pass
        raise refused(self, field, "is no date; write it as 1815-12-10 (RFC 2426 section 3.1.5)")


def _folded(line: str) -> str:
    """RFC 2425 section 5.8.1: CRLF and a blank before what is too much; the blank is one of the next line's octets."""
    pieces, piece, octets = [], "", 0
    for character in line:
        width = len(character.encode())
        if octets + width > _LONGEST_LINE:
            pieces.append(piece)
            piece, octets = " ", 1
        piece += character
        octets += width
    return "\r\n".join([*pieces, piece])
