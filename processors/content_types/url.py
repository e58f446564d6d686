"""The address of a page or an app (RFC 3986, RFC 3987): checked, and kept as it is."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from processors.content_types.checks import code_point
from processors.content_types.declaration import ContentType, Declaration, check, refused

# RFC 3986 appendix B takes every text apart; whether the parts are allowed is asked behind it.
_PARTS: Final = re.compile(r"([^:/?#]+):(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?", re.DOTALL)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_NEEDS_HOST: Final = frozenset({"http", "https", "ws", "wss", "ftp"})

# RFC 3987 section 2.2: ucschar and iprivate.
_UCSCHAR: Final = (
    "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    + "".join(f"{chr(plane << 16)}-{chr(plane << 16 | 0xFFFD)}" for plane in range(0x1, 0xE))
    + "\U000e1000-\U000efffd"
)
_IPRIVATE: Final = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_PLAIN: Final = rf"A-Za-z0-9\-._~!$&'()*+,;={_UCSCHAR}"
_PERCENT: Final = "%[0-9A-Fa-f]{2}"
_USERINFO: Final = re.compile(rf"(?:[{_PLAIN}:]|{_PERCENT})*+")
_REG_NAME: Final = re.compile(rf"(?:[{_PLAIN}]|{_PERCENT})*+")
_PATH: Final = re.compile(rf"(?:[{_PLAIN}:@/]|{_PERCENT})*+")
_QUERY: Final = re.compile(rf"(?:[{_PLAIN}:@/?{_IPRIVATE}]|{_PERCENT})*+")
_FRAGMENT: Final = re.compile(rf"(?:[{_PLAIN}:@/?]|{_PERCENT})*+")
_PORT: Final = re.compile(r"[0-9]*+")
_IPVFUTURE: Final = re.compile(r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+")
# RFC 3987 section 4.1: an IRI must not have them, since they change the order in which it is shown.
_BIDI_CONTROLS: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """An absolute URI or IRI, kept character by character."""

    DECLARED: ClassVar = Declaration(
        name="url",
        summary="the address of a page, a file or an app",
        standard="RFC 3986 sections 3 and 4.3; RFC 3987 section 2.2 for characters beyond ASCII; RFC 9110 section 4.2 for http",
        example={"url": "https://example.com/menu?table=12"},
        notes=(
            "It needs its scheme: `https://example.com`, not `example.com`. Nothing is added, removed or re-encoded.",
            ("Characters beyond ASCII are allowed as RFC 3987 has them; phones read them, some older readers do not. "
            "Percent-encode them (and write the host in punycode) where that matters."),
        ),
    )

    url: Annotated[str, "the whole address, with its scheme"]

    def content(self) -> str:
        """The URL. Raises RequestRefused (invalid_payload)."""
        check(self)
        check_url(self, "url", self.url)
        return self.url


def check_url(given: ContentType, field: str, url: str) -> None:
    """Check the grammar of an absolute IRI. Raises RequestRefused naming the character."""
    parts = _PARTS.fullmatch(url)
    if not parts or not _SCHEME.fullmatch(parts[1]) or ("." in parts[1] and parts[2] is None):
        # `example.com:8080` has the form of a URI with a scheme; nobody who writes it means that.
        raise refused(given, field, "has no scheme (RFC 3986 section 3.1); write https:// before it, or what it is")
    if parts[1].lower() in _NEEDS_HOST and not _host(parts[3] or ""):
        raise refused(given, field, f"has no host (RFC 9110 section 4.2); write {parts[1].lower()}://example.com/...")
    found = _BIDI_CONTROLS.search(url)
    if found:
        raise refused(given, field, f"character {found.start() + 1} is {code_point(found[0])}, which turns the reading order (RFC 3987 section 4.1); leave it out")
    if parts[3] is not None:
        _check_authority(given, field, url, parts.start(3), parts[3])
    _check_part(given, field, "path", url, parts.span(4), _PATH)
    _check_part(given, field, "query", url, parts.span(6), _QUERY)
    _check_part(given, field, "fragment", url, parts.span(8), _FRAGMENT)


def _host(authority: str) -> str:
    return re.sub(r":[0-9]*$", "", authority.rpartition("@")[2])


def _check_authority(given: ContentType, field: str, url: str, start: int, authority: str) -> None:
    userinfo, at, rest = authority.rpartition("@")
    _check_part(given, field, "user name", url, (start, start + len(userinfo)), _USERINFO)
    start += len(userinfo) + len(at)
    if rest.startswith("["):
        literal, bracket, port = rest[1:].partition("]")
        if not bracket or not _is_ip_literal(literal) or (port and not port.startswith(":")):
            raise refused(given, field, "has no IPv6 address between its brackets (RFC 3986 section 3.2.2); write it as https://[2001:db8::1]/")
        start += len(literal) + 2
    else:
        host, _, port = rest.partition(":")
        port = rest[len(host):]
        _check_part(given, field, "host", url, (start, start + len(host)), _REG_NAME)
        start += len(host)
    _check_part(given, field, "port", url, (start + len(port[:1]), start + len(port)), _PORT)


def _is_ip_literal(literal: str) -> bool:
    if _IPVFUTURE.fullmatch(literal):
        return True
    try:
        return ipaddress.IPv6Address(literal).scope_id is None
    except ValueError:
        return False


def _check_part(given: ContentType, field: str, part: str, url: str, span: tuple[int, int], allowed: re.Pattern[str]) -> None:
    start, end = span
    if start < 0:
        return
    # `match` always does: every pattern takes nothing too.
    matched = allowed.match(url, start, end)
    stopped = matched.end() if matched else start
    if stopped < end:
        character = url[stopped]
        if character == "%":
            instead = "write % itself as %25, and any other with two hexadecimal digits"
        elif part == "port":
            instead = "a port has digits only"
        else:
            instead = "write " + "".join(f"%{byte:02X}" for byte in character.encode())
        raise refused(given, field, f"character {stopped + 1} ({code_point(character)}) is not allowed in its {part} (RFC 3986 section 3); {instead}")
