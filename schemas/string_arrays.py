"""Arrays of strings in Avro's binary encoding (specification 1.12, arrays)."""

from __future__ import annotations

from schemas import varint
from schemas.errors import UndecodableError


def decode_strings(raw: bytes, at: int) -> tuple[tuple[str, ...], int]:
    """The strings that begin at an offset, and the offset behind them.

    They come in blocks of a count and its items, up to a block of none; a negative count has its length in bytes behind
    it. Raises UndecodableError, UnicodeDecodeError, or IndexError where the bytes end early.
    """
    strings: list[str] = []
    count, at = varint.decode_long(raw, at)
    while count:
        end = None
        if count < 0:
            count = -count
            size, at = varint.decode_long(raw, at)
            end = at + size
        if count > len(raw) - at:
            raise UndecodableError(f"an array of {count} items at byte {at}, {len(raw) - at} bytes are left")
        for _ in range(count):
            length, at = varint.decode_long(raw, at)
            if not 0 <= length <= len(raw) - at:
                raise UndecodableError(f"the length before byte {at} is {length}, {len(raw) - at} bytes are left")
            strings.append(raw[at : at + length].decode())
            at += length
        if end not in (None, at):
            raise UndecodableError(f"a block that should end at byte {end} ends at {at}")
        count, at = varint.decode_long(raw, at)
    return tuple(strings), at


def encode_strings(values: tuple[str, ...]) -> bytes:
    """The same in one block, as fastavro writes it; most often there are none."""
    if not values:
        return b"\0"
    encoded = [value.encode() for value in values]
    return b"".join((varint.LONGS[len(encoded)], *(part for text in encoded for part in (varint.LONGS[len(text)], text)), b"\0"))
