"""Codes of different lengths, joined to bytes without a gap."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

WORD: Final = 64
_ONE, _SIX, _LAST = np.uint64(1), np.uint64(6), np.uint64(WORD - 1)


class Codes(NamedTuple):
    """Codes of 0 to 64 bits, the first to be sent lowest: uint64 both, of one shape."""

    values: NDArray[np.uint64]
    lengths: NDArray[np.uint64]


def codes_of(value: int, length: int) -> Codes:
    """Cut `length` bits, the lowest first, into as few codes as hold them."""
    count = -(-length // WORD)
    values = np.frombuffer(value.to_bytes(count * 8, "little"), "<u8").astype(np.uint64)
    lengths = np.full(count, WORD, np.uint64)
    if length % WORD:
        lengths[-1] = length % WORD
    return Codes(values, lengths)


def join_codes(codes: Codes) -> bytes:
    """Join a row of codes, the lowest bit of each first; the last byte is filled with zeros.

    Each code is moved to its place in a word of 64 bits. No code is longer than a word, so one
    begins in every word, and only the last that begins there can reach into the next.
    """
    values, lengths = codes
    ends = np.cumsum(lengths, dtype=np.uint64)
    starts = ends - lengths
    word, place = starts >> _SIX, starts & _LAST
    begins = np.ones(len(word) + 1, np.bool_)  # of a word; one more behind the last code
    np.not_equal(word[1:], word[:-1], out=begins[1:-1])
    at = begins.nonzero()[0]
    first, last = at[:-1], at[1:] - 1
    words = np.zeros(len(first) + 1, np.uint64)
    words[:-1] = np.bitwise_or.reduceat(values << place, first)
    words[1:] |= values[last] >> _ONE >> (_LAST - place[last])
    joined: bytes = words.astype("<u8").tobytes()
    return joined[: (int(ends[-1]) + 7) // 8]
