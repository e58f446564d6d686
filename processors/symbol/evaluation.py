"""Evaluation of data masking results (ISO/IEC 18004:2015, 7.8.3): the points of all eight masks at once.

In small symbols each step takes rows and columns under all masks as one long number, which
costs a fifth of a step on a numpy array; in large ones numpy's arrays are faster.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from processors.symbol.masking import MASKS
from processors.symbol.penalties import Points, Words, balance_points, finder_like, runs_of_five
from processors.symbol.read_only import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from processors.symbol.lines import Lines

_SMALL: Final = 49
"""Modules along the side of version 8; from there on arrays are faster."""
_WORD: Final = 64
_LITTLE: Final = np.dtype("<u8")
"""Words whose least significant bit is the first, on machines of either byte order."""


class Evaluation(Protocol):
    """What is needed to evaluate the masks of a version."""

    def points(self, packed: NDArray[np.uint8]) -> list[Points]:
        """Return N1, N2, N3 and N4 of each mask. packed: 2 x bytes, unmasked rows and columns."""


def evaluation_of(lines: Lines, masks: NDArray[np.uint8]) -> Evaluation:
    """Prepare a version. masks: 8 x 2 x bytes, each mask with the function patterns, rows and columns."""
    balance = balance_points(lines.side**2)
    if lines.side < _SMALL:
        return _Numbers(
            lines=lines,
            masks=int.from_bytes(masks.tobytes(), "little"),
            no_neighbour=int.from_bytes(lines.no_neighbour.tobytes() * (2 * MASKS), "little"),
            ones=(1 << 2 * lines.bits * MASKS) - 1,
            balance=balance,
        )
    return _Arrays(
        lines=lines,
        masks=read_only(np.ascontiguousarray(masks.swapaxes(0, 1)).view(_LITTLE)),
        no_neighbour=read_only(lines.no_neighbour.view(_LITTLE)),
        balance=balance,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Numbers:
    """One number for everything: mask after mask, each with its rows and then its columns."""

    lines: Lines
    masks: int
    no_neighbour: int
    ones: int
    balance: bytes

    def points(self, packed: NDArray[np.uint8]) -> list[Points]:
        right, left, stride = operator.rshift, operator.lshift, self.lines.stride
        x = int.from_bytes(packed.tobytes() * MASKS, "little") ^ self.masks
        following = x >> 1
        differs = x ^ following
        like = finder_like(x, following, differs, right, left)
        differs |= self.no_neighbour
        five, ends = runs_of_five(differs, self.ones, right)
        mixed = x >> stride ^ x
        blocks = (mixed | differs | differs >> stride) ^ self.ones
        bits = 2 * self.lines.bits
        of_mask, balance = (1 << bits) - 1, self.balance
        return [
            (
                (five >> at & of_mask).bit_count() + 2 * (ends >> at & of_mask).bit_count(),
                # A block is found in the columns as in the rows, and so is a dark module.
                (blocks >> at & of_mask).bit_count() // 2 * 3,
                (like >> at & of_mask).bit_count() * 40,
                balance[(x >> at & of_mask).bit_count() // 2],
            )
            for at in range(0, bits * MASKS, bits)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    """Arrays of words: the rows under each mask, then the columns under each."""

    lines: Lines
    masks: Words
    no_neighbour: Words
    balance: bytes

    def points(self, packed: NDArray[np.uint8]) -> list[Points]:
        masked: Words = packed.view(_LITTLE)[:, None] ^ self.masks
        shape, x = masked.shape, masked.reshape(-1)
        found = np.empty((8, *shape[1:]), np.uint64)
        following = _right(x, 1)
        differs = x ^ following
        found[4:6] = finder_like(x, following, differs, _right, _left).reshape(shape)
        apart = differs.reshape(shape) | self.no_neighbour
        five, ends = runs_of_five(apart.reshape(-1), _ONES, _right)
        found[0:2], found[2:4] = five.reshape(shape), ends.reshape(shape)
        self._blocks(masked[0], apart[0], found[6])
        found[7] = masked[0]
        # Two bytes are enough for the bits of a direction of version 40, and twice as quick as eight.
        counts = np.bitwise_count(found).sum(axis=2, dtype=np.uint16).T.tolist()
        return [
            (
                rows_5 + columns_5 + 2 * (row_ends + column_ends),
                3 * blocks,
                40 * (rows_like + columns_like),
                self.balance[dark],
            )
            for rows_5, columns_5, row_ends, column_ends, rows_like, columns_like, blocks, dark in counts
        ]

    def _blocks(self, rows: Words, apart: Words, found: Words) -> None:
        """Find blocks in rows alone; the last words, for which there is no next row, begin none."""
        below = self._next_line(rows)
        starts = below.shape[1]
        mixed = below ^ rows[:, :starts]
        mixed |= apart[:, :starts]
        mixed |= self._next_line(apart)
        np.invert(mixed, out=found[:, :starts])
        found[:, starts:] = 0

    def _next_line(self, words: Words) -> Words:
        whole, rest = divmod(self.lines.stride, _WORD)
        following: Words = words[:, whole:-1] >> _BY[rest]
        following |= words[:, whole + 1 :] << _BY[_WORD - rest]
        return following


_BY: Final = tuple(map(np.uint64, range(_WORD)))
"""Numbers to shift by: numpy would convert an int at each step."""
_ONES: Final = np.array([2**_WORD - 1], np.uint64)


def _right(words: Words, by: int) -> Words:
    shifted = words >> _BY[by]
    shifted[:-1] |= words[1:] << _BY[_WORD - by]
    return shifted


def _left(words: Words, by: int) -> Words:
    shifted = words << _BY[by]
    shifted[1:] |= words[:-1] >> _BY[_WORD - by]
    return shifted
