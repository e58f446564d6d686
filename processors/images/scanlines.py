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
from processors.images.raster import GROUP, WINDOWS, Raster

_ZLIB_HEADER: Final = b"\x78\x01"  # RFC 1950, 2.2: deflate, a window of 32 KiB, no dictionary
_PLANS: Final = 64
"""Rasters whose tables are kept, 40 to 350 KB each: all versions of one scale and margin, and more."""


def compressed_scanlines(modules: NDArray[np.uint8], raster: Raster) -> bytes:
    """Return the zlib stream of the image that shows `modules` (uint8, side x side, 1 is dark)."""
    plan = _plan(raster)
    windows = plan.windows(modules)
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
        self._lines, self._padded = raster.side, np.zeros((raster.side, GROUP * (raster.groups + 1)), np.uint8)
        self._modules = slice(raster.light_first, raster.light_first + raster.side)
        self._table = np.stack(code.group_codes())
        head, between, tail = (np.stack(codes_of(*bits)) for bits in (code.head, code.between, code.tail))
        self._groups = raster.groups * self._table.shape[2]
        line = np.concatenate((np.zeros((2, self._groups), np.uint64), between), axis=1)
        lines = np.tile(line, raster.side)
        lines[:, -between.shape[1] :] = 0  # codes of no bits: the tail is what comes behind the last line
        self._template = np.concatenate((head, lines, tail), axis=1)
        self._within = slice(head.shape[1], -tail.shape[1])

    def windows(self, modules: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Table entry of what each group shows, lines x groups: dark is 1, the first module highest."""
        padded = self._padded.copy()
        padded[:, self._modules] = modules
        packed = np.packbits(padded, axis=1)
        windows = packed[:, :-1].astype(np.intp)
        windows <<= 1
        windows |= packed[:, 1:] >> 7
        windows[:, -1] += WINDOWS  # the last group has entries of its own
        return windows

    def codes(self, windows: NDArray[np.intp]) -> Codes:
        """The codes of the whole block."""
        codes = self._template.copy()
        lines = codes[:, self._within].reshape(2, self._lines, -1)
        lines[:, :, : self._groups] = self._table.take(windows, axis=1).reshape(2, self._lines, self._groups)
        return Codes(codes[0], codes[1])


_plan = lru_cache(maxsize=_PLANS)(_Plan)
