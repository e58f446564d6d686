"""Texts that some readers show as another text, although every byte is right.

The symbols have UTF-8 in byte mode and no ECI, and so do not say which character set they
are in. ISO/IEC 18004:2015 (7.3.2) has ISO/IEC 8859-1 as the default, an earlier edition had JIS8 and
Shift JIS, and readers guess. Most ask first whether the bytes are UTF-8, which text in another
set hardly ever is. Some ask last: ZBar takes Big5, Shift JIS and ISO/IEC 8859-1 before it, each where
the bytes are possible in it. docs/scanning.md has the texts that were shown to it.
"""

from __future__ import annotations

from typing import Final

_MULTIBYTE: Final = ("big5", "shift_jis")
_C1_CONTROLS: Final = bytes(range(0x80, 0xA0))
"""Bytes that ISO/IEC 8859-1 leaves to control characters, so that no reader takes them for text."""


def other_readings(content: bytes) -> tuple[str, ...]:
    """Return the character sets, among those that readers try before UTF-8, in which a text is another text.

    Names as Python's codecs have them. Empty for ASCII, which is the same in all of them, and
    for bytes that are no UTF-8: they are data, and whoever sends them knows their reader.
    """
    if content.isascii():
        return ()
    if not _is_text(content, "utf-8"):
        return ()
    found = [name for name in _MULTIBYTE if _is_text(content, name)]
    if content.translate(None, _C1_CONTROLS) == content:
        found.append("iso8859-1")
    return tuple(found)


def _is_text(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
