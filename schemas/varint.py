"""Avro's long: zigzag, then seven bits a byte, the lowest first (Avro specification 1.12, binary encoding).

Tables instead of loops, since a record has up to twenty of these and a Python loop over six bytes costs as much
as all the rest of a field.
"""

from __future__ import annotations

from typing import Final

from schemas.errors import UndecodableError

LONG_MIN: Final = -(1 << 63)
LONG_MAX: Final = (1 << 63) - 1
INT_MIN: Final = -(1 << 31)
INT_MAX: Final = (1 << 31) - 1
_MAX_BYTES: Final = 10
_SEVEN_BITS: Final = 0x7F


def encode_long(value: int) -> bytes:
    """Any 64-bit value. Raises OverflowError beyond 64 bits, TypeError for what is not an integer."""
    if not LONG_MIN <= value <= LONG_MAX:
        raise OverflowError(f"{value} does not fit 64 bits")
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > _SEVEN_BITS:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def decode_long(raw: bytes, at: int) -> tuple[int, int]:
    """The value at an offset and the offset after it. Raises IndexError at the end, UndecodableError beyond 64 bits."""
    rest = shift = 0
    for here in range(at, at + _MAX_BYTES):
        byte = raw[here]
        rest |= (byte & 0x7F) << shift
        if byte <= _SEVEN_BITS:
            if rest >> 64:
                break
            return (rest >> 1) ^ -(rest & 1), here + 1
        shift += 7
    raise UndecodableError(f"the number at byte {at} does not fit 64 bits")


class _Longs(dict[int, bytes]):
    """Encoded longs by value; those not in the table are computed, and not kept."""

    def __missing__(self, value: int) -> bytes:
        return encode_long(value)


LONGS: Final = _Longs((value, encode_long(value)) for value in range(-1, 1024))
"""Encoded long of any value. 1,024 holds the counts and nearly all lengths; more costs start-up time for nothing."""

# An instant of our days is six bytes, read and written as three pairs. Values outside (before mid 1970, after 2039)
# take the plain way.
INSTANT_MIN: Final = 1 << 34
INSTANT_MAX: Final = (1 << 41) - 1
CONTINUED: Final = [bytes((low | 0x80, high | 0x80)) for high in range(128) for low in range(128)]
"""Two bytes that are not the last, by their 14 bits."""
ENDING: Final = [bytes((low | 0x80, high)) for high in range(128) for low in range(128)]
"""The last two bytes, by their 14 bits."""


def _pairs(*, last: bool) -> list[int]:
    """14 bits by the two bytes read as a little-endian 16-bit number; -1 where these bytes cannot stand there."""
    table = [-1] * (1 << 16)
    for bits in range(1 << 14):
        low, high = bits & 0x7F, bits >> 7
        table[low | 0x80 | (high if last else high | 0x80) << 8] = bits
    return table


CONTINUED_PAIR: Final = _pairs(last=False)
ENDING_PAIR: Final = _pairs(last=True)
