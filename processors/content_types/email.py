"""An e-mail, ready to send (RFC 6068)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final
from urllib.parse import quote

from processors.content_types.checks import check_line
from processors.content_types.declaration import ContentType, Declaration, check, refused

# RFC 5322 section 3.2.3 and 3.2.4, with the characters beyond ASCII of RFC 6531 section 3.3.
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]+"
_LOCAL: Final = re.compile(rf'{_ATOM}(?:\.{_ATOM})*|"(?:[ !#-\[\]-~\x80-\U0010ffff]|\\[ -~])*"')
_DOMAIN: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*|\[[!-Z^-~]*\]")
_MOST_LOCAL: Final = 64
_MOST_DOMAIN: Final = 255
"""RFC 5321 section 4.5.3.1, octets."""
_UNQUOTED: Final = "!$'*"
_UNQUOTED_VALUE: Final = "!$'()*,:@"
"""Of RFC 6068 section 2, some-delims, but for + (read as a blank by those who take the query for a form's) and ;."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    """A `mailto:` URI."""

    DECLARED: ClassVar = Declaration(
        name="email",
        summary="an e-mail, ready to send",
        standard="RFC 6068 sections 2 and 5, with the addresses of RFC 5322 section 3.4.1",
        example={"to": ["infobot@example.com"], "subject": "current-issue", "body": "send current-issue\nsend index"},
        notes=(
            ("`MATMSG:`, the older form of one operator's telephones, has no standard and no way to say cc; every reader that "
            "knows it knows `mailto:`, so it is not made."),
            "Line breaks of the body, `\\n` or `\\r\\n`, are written `%0D%0A`.",
        ),
    )

    to: Annotated[tuple[str, ...], "recipients"] = ()
    cc: Annotated[tuple[str, ...], "recipients of a copy"] = ()
    bcc: Annotated[tuple[str, ...], "recipients of a copy that the others do not see"] = ()
    subject: Annotated[str | None, "one line"] = None
    body: Annotated[str | None, "text; lines end with \\n"] = None

    def content(self) -> str:
        """`mailto:infobot@example.com?subject=current-issue`. Raises RequestRefused (invalid_payload)."""
        check(self)
        fields = [(name, self._addresses(name, addresses)) for name, addresses in (("cc", self.cc), ("bcc", self.bcc)) if addresses]
        if self.subject is not None:
            check_line(self, "subject", self.subject)
            fields.append(("subject", quote(self.subject, safe=_UNQUOTED_VALUE)))
        if self.body is not None:
            fields.append(("body", quote(self._lines(self.body), safe=_UNQUOTED_VALUE)))
        if not self.to and not fields:
            raise refused(self, "to", "is missing, and everything else too; name a recipient")
        query = "&".join(f"{name}={value}" for name, value in fields)
        return f"mailto:{self._addresses('to', self.to)}" + (f"?{query}" if query else "")

    def _addresses(self, field: str, addresses: tuple[str, ...]) -> str:
        return ",".join(_encoded(self, f"{field} {number}", address) for number, address in enumerate(addresses, 1))

    def _lines(self, body: str) -> str:
        lines = body.replace("\r\n", "\n")
        if "\r" in lines:
            raise refused(self, "body", "has a carriage return without a line feed; end lines with \\n (RFC 6068 section 5)")
        return lines.replace("\n", "\r\n")


def check_address(given: ContentType, field: str, address: str) -> tuple[str, str]:
    """Local part and domain of an RFC 5322 addr-spec. Raises RequestRefused."""
    local, at, domain = address.rpartition("@")
    if not at or not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise refused(given, field, "is no e-mail address (RFC 5322 section 3.4.1); write it as name@example.com, without a display name")
    if len(local.encode()) > _MOST_LOCAL or len(domain.encode()) > _MOST_DOMAIN:
        raise refused(given, field, f"is too long: {_MOST_LOCAL} bytes are taken before the @ and {_MOST_DOMAIN} behind it (RFC 5321 section 4.5.3.1)")
    return local, domain


def _encoded(given: ContentType, field: str, address: str) -> str:
    local, domain = check_address(given, field, address)
    # Section 2 of RFC 6068 leaves + in an address as it is, and readers do.
    return f"{quote(local, safe=_UNQUOTED + '+')}@{quote(domain, safe='')}"
