"""Data codewords of one segment (ISO/IEC 18004:2015, 7.4)."""

from __future__ import annotations

from typing import Final

from processors.symbol.modes import MODES, data_bits

_MODE_INDICATOR_BITS: Final = 4
_TERMINATOR_BITS: Final = 4
_MOST_CODEWORDS: Final = 2956
"""Data codewords of version 40 at level L, the most there are (table 7)."""
_PAD_CODEWORDS: Final = bytes([0b11101100, 0b00010001]) * (_MOST_CODEWORDS // 2)


def data_codewords(mode: str, content: bytes, version: int, count: int) -> bytes:
    """Return the `count` data codewords of a content that fits into them.

    Mode indicator, character count indicator, data, terminator, padding bits, pad
    codewords. As segno 1.6.6 does, a stream that ends on a codeword boundary after its
    terminator gets eight padding bits more where the standard has none (7.4.10): one
    codeword of zeros before the pad codewords, unless the symbol is full.
    """
    known = MODES[mode]
    characters = len(content)
    count_length, data_length = known.count_length(version), known.data_length(characters)
    header = known.indicator << count_length | characters
    stream = header << data_length | data_bits(mode, content)
    length = _MODE_INDICATOR_BITS + count_length + data_length
    padding = min(_TERMINATOR_BITS, 8 * count - length)
    padding += 8 - (length + padding) % 8
    codewords = (stream << padding).to_bytes((length + padding) // 8, "big")
    return (codewords + _PAD_CODEWORDS[: max(0, count - len(codewords))])[:count]
