"""Data objects of EMV QR codes: two digits of id, two of length, the value; and the CRC behind all."""

from __future__ import annotations

from binascii import crc_hqx
from typing import Final

CRC_ID: Final = "63"
CRC_LENGTH: Final = 4
_CRC_HEAD: Final = f"{CRC_ID}{CRC_LENGTH:02d}"
LONGEST_VALUE: Final = 99
_HEAD: Final = 4


def data_object(identifier: str, value: str) -> str:
    """One data object. Lengths count characters (as the Chinese name in EMVCo's own example shows)."""
    return f"{identifier}{len(value):02d}{value}"


def with_crc(objects: str) -> str:
    """Data objects with their CRC as the last: CRC-16/CCITT-FALSE, four capital hexadecimal digits (section 4.7.3)."""
    return f"{objects}{_CRC_HEAD}{crc_16(objects + _CRC_HEAD):04X}"


def crc_16(text: str) -> int:
    """Polynomial 0x1021, start 0xFFFF, over the UTF-8 bytes."""
    return crc_hqx(text.encode(), 0xFFFF)


def taken_apart(text: str) -> dict[str, str]:
    """Values by id, in their order. Raises ValueError where lengths do not add up, or an id is there twice."""
    objects: dict[str, str] = {}
    place = 0
    while place < len(text):
        identifier, length = text[place : place + 2], text[place + 2 : place + _HEAD]
        if not (_two_digits(identifier) and _two_digits(length)):
            raise ValueError(f"no data object begins at character {place + 1}")
        value = text[place + _HEAD : place + _HEAD + int(length)]
        if len(value) != int(length) or not value:
            raise ValueError(f"data object {identifier} at character {place + 1} does not have the length that it says")
        if identifier in objects:
            raise ValueError(f"data object {identifier} is there twice")
        objects[identifier] = value
        place += _HEAD + len(value)
    return objects


def _two_digits(text: str) -> bool:
    return len(text) == 2 and text.isascii() and text.isdigit()  # noqa: PLR2004 - the width of an id
