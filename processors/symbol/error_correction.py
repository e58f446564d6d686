"""Error correction codewords: Reed-Solomon over GF(256) (ISO/IEC 18004:2015, 7.5 and annex A).

The codewords of a block are linear in its data: the exclusive or, over all positions, of
what each data codeword contributes. A table holds every contribution by position, counted
from the block's end, and value; a block is then one look-up a codeword, whatever its
length, and all blocks with as many error correction codewords share the table.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from processors.symbol.capacity import LEVELS, VERSIONS, blocks_of
from processors.symbol.read_only import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIELD_POLYNOMIAL: Final = 0b1_0001_1101
"""x^8 + x^4 + x^3 + x^2 + 1 (7.5.2)."""
VALUES: Final = 256
WORD: Final = 8
"""Bytes that one exclusive or takes at once."""


def _doubled(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Multiply each by x."""
    doubled = values + values
    doubled[values > 0x7F] ^= _FIELD_POLYNOMIAL & 0xFF  # noqa: PLR2004 - the highest bit
    return doubled


def _multiplied(values: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    product = np.zeros_like(values)
    while factor:
        if factor & 1:
            product ^= values
        values = _doubled(values)
        factor >>= 1
    return product


def generator(degree: int) -> NDArray[np.uint8]:
    """Coefficients of (x - 1)(x - a)…(x - a^(degree-1)) below the highest, highest first (annex A)."""
    polynomial = np.array([1], np.uint8)
    root = 1
    for _ in range(degree):
        scaled = _multiplied(polynomial, root)
        polynomial = np.append(polynomial, np.uint8(0))
        polynomial[1:] ^= scaled
        root = root << 1 ^ (_FIELD_POLYNOMIAL if root & 0x80 else 0)
    return polynomial[1:]


@cache
def contributions(ec_each: int) -> NDArray[np.uint64]:
    """Return what a data codeword adds to the `ec_each` error correction codewords of its block.

    Row 256 * p + v is for value v at p codewords before the block's last: the
    coefficients of v * x^(ec_each + p) modulo the generator, highest first, padded with
    zeros to whole words of 8 bytes.
    """
    width = -(-ec_each // WORD) * WORD
    table = np.zeros((_longest_block(ec_each), VALUES, width), np.uint8)
    multiple = generator(ec_each)
    first = table[0, :, :ec_each]
    for bit in range(8):
        first[1 << bit : 2 << bit] = first[: 1 << bit] ^ multiple
        multiple = _doubled(multiple)
    # One codeword further from the end is one division step more: of the highest coefficient.
    for at in range(1, len(table)):
        nearer = table[at - 1]
        table[at, :, : ec_each - 1] = nearer[:, 1:ec_each]
        table[at] ^= table[0, nearer[:, 0]]
    return read_only(table.view(np.uint64).reshape(-1, width // WORD))


def _longest_block(ec_each: int) -> int:
    every = (blocks_of(version, level) for version in VERSIONS for level in LEVELS)
    return max(blocks.data_each + (blocks.longer > 0) for blocks in every if blocks.ec_each == ec_each)
