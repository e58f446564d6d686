"""Codeword placement: which bit of the message each module takes (ISO/IEC 18004:2015, 7.7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from processors.symbol.function_patterns import TIMING

if TYPE_CHECKING:
    from numpy.typing import NDArray


def placement(taken: NDArray[np.bool_], bits: int) -> NDArray[np.intp]:
    """Return, n x n, the number of the bit placed in each module.

    bits: length of the message. Modules that take none of it have the number `bits`:
    those of function patterns, and those of remainder bits (7.6), which are zero.
    """
    side = len(taken)
    pairs = np.array(_right_columns(side))
    columns = pairs[:, None, None] - np.array([0, 1])
    downwards = np.arange(side)
    # The first pair goes upwards, then they alternate.
    rows = np.stack([downwards[::-1], downwards])[np.arange(len(pairs)) % 2][:, :, None]
    rows, columns = np.broadcast_arrays(rows, columns)
    free = ~taken[rows, columns]
    numbers = np.full((side, side), bits, np.intp)
    numbers[rows[free][:bits], columns[free][:bits]] = np.arange(bits)
    return numbers


def _right_columns(side: int) -> list[int]:
    """Right column of each pair, from the right; the vertical timing pattern is no part of one."""
    return [*range(side - 1, TIMING, -2), *range(TIMING - 1, 0, -2)]
