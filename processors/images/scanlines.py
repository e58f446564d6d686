"""The compressed scanlines of a symbol (PNG specification, third edition, 7.2, 9 and 10; RFC 1950).

An image of a symbol is known but for its modules. So each group of eight modules is looked up with
the deflate code of its bytes, and all that lies between (borders, repeated lines) is the same in
every symbol of a size and made once. No pixels are ever laid out, and no repetition looked for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from processors.images.adler import LineSums
from processors.images.bit_joining import Codes, codes_of, join_codes
from processors.images.line_code import LineCode
from processors.images.raster import WINDOWS, Raster

_ZLIB_HEADER: Final = b"\x78\x01"  # RFC 1950, 2.2: deflate, a window of 32 KiB, no dictionary
_PLANS: Final = 64
"""Rasters whose tables are kept, 10 to 100 KB each: all versions of one scale and margin, and more."""


def compressed_scanlines(modules: NDArray[np.uint8], raster: Raster) -> bytes:
    """Return the zlib stream of the image that shows `modules` (uint8, side x side, 1 is dark)."""
    plan = _plan(raster)
    windows = raster.windows(modules)
    windows[:, -1] += WINDOWS  # the last group has a table of its own
    body = join_codes(plan.codes(windows))
    return _ZLIB_HEADER + body + plan.sums.checksum(windows).to_bytes(4, "big")


class _Plan:
    """The tables of a raster: codes and sums of each of its groups' windows, the last group's behind."""

    def __init__(self, raster: Raster) -> None:
        shown = raster.bytes_of_windows()
        last = shown.copy()
        last[:, raster.last_group_bytes :] = 0
        code = LineCode(raster)
        self.sums = LineSums(raster, np.concatenate((shown, last)), up=code.up)
        self._head, self._between, self._tail = codes_of(*code.head), codes_of(*code.between), codes_of(*code.tail)
        self._table = code.group_codes()

    def codes(self, windows: NDArray[np.intp]) -> Codes:
        """The codes of the whole block."""
        return Codes(self._laid_out(windows, 0), self._laid_out(windows, 1))

    def _laid_out(self, windows: NDArray[np.intp], which: int) -> NDArray[np.uint64]:
        """All values, or all lengths: what is between two lines stands before each, the first one's left out."""
        between = self._between[which]
        groups = self._table[which].take(windows, axis=0).reshape(len(windows), -1)
        lines = np.empty((len(windows), len(between) + groups.shape[1]), np.uint64)
        lines[:, : len(between)] = between
        lines[:, len(between) :] = groups
        return np.concatenate((self._head[which], lines.reshape(-1)[len(between) :], self._tail[which]))


_plan = lru_cache(maxsize=_PLANS)(_Plan)
