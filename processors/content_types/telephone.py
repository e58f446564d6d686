"""Telephone numbers as URIs write them (RFC 3966 section 3): used by tel and sms."""

from __future__ import annotations

import re
from typing import Final

from processors.content_types.declaration import ContentType, refused

_SEPARATORS: Final = str.maketrans("", "", "-.()")
_GLOBAL: Final = re.compile(r"\+[\-.()]*[0-9][0-9\-.()]*")
_LOCAL: Final = re.compile(r"[\-.()]*[0-9A-Fa-f*#][0-9A-Fa-f*#\-.()]*")
_EXTENSION: Final = re.compile(r"[\-.()]*[0-9][0-9\-.()]*")
# RFC 3966 section 3, domainname: labels of letters, digits and inner hyphens; the last begins with a letter.
_DOMAIN: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.?")
_LONGEST_DOMAIN: Final = 255
"""RFC 1035 section 2.3.4. Checked first: the pattern's time grows with the square of a label's length."""
_MOST_DIGITS: Final = 15
"""ITU-T E.164: of an international number, country code included."""


def subscriber(given: ContentType, field: str, number: str, context: str | None, extension: str | None = None) -> str:
    """RFC 3966 telephone-subscriber: the number, then ext, then phone-context (section 3 wants that order).

    A local number is refused without a context (section 5.1.5): it means another telephone in each place. `#` is
    written %23, since it would begin a URI's fragment (RFC 3986 section 3.5).
    """
    if number.startswith("+"):
        _check_global(given, field, number)
        if context is not None:
            raise refused(given, "context", "is for a local number (RFC 3966 section 5.1.5); leave it out")
    else:
        if not _LOCAL.fullmatch(number):
            raise refused(given, field, "is no telephone number (RFC 3966 section 3): digits with - . ( ) between them, and no blanks; such as +1-201-555-0123")
        if context is None:
            raise refused(given, field, "is a local number; write it with + and the country code, or say with context where it is valid (RFC 3966 section 5.1.5)")
    parts = [number.replace("#", "%23")]
    if extension is not None:
        if not _EXTENSION.fullmatch(extension):
            raise refused(given, "extension", "must be digits with - . ( ) between them (RFC 3966 section 5.3)")
        parts.append(f"ext={extension}")
    if context is not None:
        if context.startswith("+"):
            _check_global(given, "context", context)
        elif len(context) > _LONGEST_DOMAIN or not _DOMAIN.fullmatch(context):
            raise refused(given, "context", "must be a domain or the beginning of a global number, such as example.com or +1-914 (RFC 3966 section 5.1.5)")
        parts.append(f"phone-context={context}")
    return ";".join(parts)


def _check_global(given: ContentType, field: str, number: str) -> None:
    if not _GLOBAL.fullmatch(number):
        raise refused(given, field, "is no telephone number (RFC 3966 section 3): + and digits with - . ( ) between them, and no blanks; such as +1-201-555-0123")
    digits = len(number.translate(_SEPARATORS)) - 1
    if digits > _MOST_DIGITS:
        raise refused(given, field, f"has {digits} digits; a global number has at most {_MOST_DIGITS} (ITU-T E.164)")
