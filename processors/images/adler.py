"""Adler-32 of scanlines that are never laid out (RFC 1950, 8.2 and 9).

Its halves are the sum of all bytes, and the sum of all bytes each taken as often as it has
successors, itself included: both are linear. So a line that is repeated takes its sums as often,
and a group of modules has its own by its window.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from processors.images.line_code import UP
from processors.images.raster import Raster

_MODULUS: Final = 65_521


class _Sums(NamedTuple):
    """A line's bytes summed up, and summed up each as often as it has successors in the line, itself included."""

    plain: int
    weighted: int


class LineSums:
    """What is known of a raster's checksum before its modules are.

    group_bytes: what each of 1,024 windows shows, zeros behind the last group's bytes.
    up: a repeated line is filter type 2 and zeros; else it is the line over again.
    """

    def __init__(self, raster: Raster, group_bytes: NDArray[np.uint8], *, up: bool) -> None:
        self._length, self._height, self._up = raster.line_bytes + 1, raster.width_px, up
        self._copies = 1 if up else raster.module_px
        self._sum, self._weighted = 1, self._height * self._length  # RFC 1950, 9: it begins with 1, not 0

        light, empty = [raster.light_byte], [0]
        border = self._sums_of(empty + light * raster.line_bytes)
        around = self._sums_of(empty + light * raster.left_bytes + empty * raster.module_bytes + light * raster.right_bytes)
        tops = [raster.before_px + row * raster.module_px for row in range(raster.side)]
        self._add(border, 0, raster.before_px)
        for top in tops:
            self._add(around, top, raster.module_px)
        self._add(border, raster.width_px - raster.after_px, raster.after_px)

        places = np.arange(raster.module_px, dtype=np.int64)
        self._groups = np.stack((group_bytes.sum(axis=1, dtype=np.int64), (group_bytes * places).sum(axis=1)))
        behind = self._length - 1 - raster.left_bytes - raster.module_px * np.arange(raster.groups)
        below = np.array([self._below(top, self._copies) for top in tops])
        self._weights = (self._copies * behind[None, :] + self._length * below[:, None]) % _MODULUS

    def checksum(self, windows: NDArray[np.intp]) -> int:
        """The Adler-32 of the image that shows these windows, lines x groups."""
        sums = self._groups.take(windows, axis=1)
        plain, moments = (int(total) for total in sums.reshape(2, -1).sum(axis=1))
        low = self._sum + self._copies * plain
        high = self._weighted + int(np.vdot(sums[0], self._weights)) - self._copies * moments
        return high % _MODULUS << 16 | low % _MODULUS

    def _below(self, top: int, times: int) -> int:
        """Lines below each of `times` lines from `top` on, summed up."""
        return times * (self._height - 1 - top) - times * (times - 1) // 2

    def _sums_of(self, line: list[int]) -> _Sums:
        return _Sums(sum(line), sum(byte * (self._length - place) for place, byte in enumerate(line)))

    def _add(self, line: _Sums, top: int, times: int) -> None:
        """Take a line at `top` that is there `times` times in all."""
        if times and self._up:
            self._add_lines(line, top, 1)
            self._add_lines(self._sums_of([UP]), top + 1, times - 1)
        elif times:
            self._add_lines(line, top, times)

    def _add_lines(self, line: _Sums, top: int, times: int) -> None:
        self._sum += times * line.plain
        self._weighted += times * line.weighted + line.plain * self._length * self._below(top, times)
