"""Rows and columns of a symbol as strings of bits, so that one step treats many modules.

Each line, a row or a column, begins with four guard bits that are light, as the outside of a
symbol is, and then has its modules from the top or left. Lines follow each other without a
gap; after the last come at least 64 bits that hold nothing. Bit 0 of a byte is its least
significant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GUARD: Final = 4
"""Light modules that a finder-like pattern is preceded or followed by (7.8.3.1)."""
WORD: Final = 64

_Bit = TypeVar("_Bit", np.uint8, np.intp)


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the modules of one direction lie. side: modules of a line. stride: bits of a line."""

    side: int
    stride: int
    bits: int

    @classmethod
    def of(cls, side: int) -> Lines:
        """Lay out `side` lines of `side` modules, in whole words."""
        stride = side + GUARD
        return cls(side, stride, (-(-side * stride // WORD) + 1) * WORD)

    def spread(self, modules: NDArray[_Bit], outside: int) -> NDArray[_Bit]:
        """Lay out n x n values, each for a bit, with `outside` between and after them."""
        bits = np.full(self.bits, outside, modules.dtype)
        self.inside(bits)[:] = modules
        return bits

    def inside(self, bits: NDArray[_Bit]) -> NDArray[_Bit]:
        """View the n x n values among those of all bits of a direction."""
        return bits[: self.side * self.stride].reshape(self.side, self.stride)[:, GUARD:]

    def pack(self, modules: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return n x n modules as the bytes of a direction."""
        return pack(self.spread(modules, 0))

    def unpack(self, packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the n x n modules that the bytes of a direction hold."""
        bits = np.unpackbits(packed, count=self.side * self.stride, bitorder="little")
        return np.ascontiguousarray(self.inside(bits))

    @property
    def no_neighbour(self) -> NDArray[np.uint8]:
        """Bytes of a direction with a 1 where the next bit is no module of the same line."""
        apart = np.zeros((self.side, self.side), np.uint8)
        apart[:, -1] = 1
        return pack(self.spread(apart, 1))


def pack(bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return values of 0 and 1, whose last dimension is in whole bytes, as bits."""
    return np.packbits(bits, axis=-1, bitorder="little")
