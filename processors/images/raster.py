"""Where the modules of a symbol lie in the bytes of an image's lines, one bit a pixel."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

GROUP: Final = 8
"""Modules in a group: 8 x scale bits are `scale` whole bytes."""
WINDOWS: Final = 512
"""What a group can show: its eight modules, and the next, of which its last byte may have a part."""


class Raster(NamedTuple):
    """An image of a symbol without its modules. Lengths in px; side: modules along one side.

    light: the bit of a light pixel, 0 or 1; a dark one has the other.
    """

    side: int
    module_px: int
    before_px: int
    after_px: int
    light: int

    @property
    def width_px(self) -> int:
        """Width of the image, and its height."""
        return self.before_px + self.side * self.module_px + self.after_px

    @property
    def line_bytes(self) -> int:
        """Bytes of a line; the bits beyond its last pixel are light."""
        return (self.width_px + 7) // 8

    @property
    def light_byte(self) -> int:
        """Eight light pixels."""
        return 255 * self.light

    @property
    def left_bytes(self) -> int:
        """Whole bytes of border before the first that has a module."""
        return self.before_px // 8

    @property
    def module_bytes(self) -> int:
        """Bytes from the first to the last that has a module."""
        return (self.before_px + self.side * self.module_px + 7) // 8 - self.left_bytes

    @property
    def right_bytes(self) -> int:
        """Whole bytes of border behind the last that has a module."""
        return self.line_bytes - self.left_bytes - self.module_bytes

    @property
    def groups(self) -> int:
        """Groups of `module_px` bytes in a line; the last may have fewer."""
        return -(-self.module_bytes // self.module_px)

    @property
    def last_group_bytes(self) -> int:
        """Bytes of a line's last group."""
        return self.module_bytes - (self.groups - 1) * self.module_px

    @property
    def light_first(self) -> int:
        """Modules' worth of border in the first group, the first of them perhaps in part."""
        return -(-(self.before_px % 8) // self.module_px)

    @property
    def _cut_px(self) -> int:
        """How much of a group's first module lies before the group."""
        return self.light_first * self.module_px - self.before_px % 8

    def bytes_of_windows(self) -> NDArray[np.uint8]:
        """The bytes of a group for each of its windows, 512 x `module_px`."""
        shown = (np.arange(WINDOWS)[:, None] >> np.arange(GROUP, -1, -1)) & 1
        bits = shown.astype(np.uint8) ^ np.uint8(self.light)
        pixels = np.repeat(bits, self.module_px, axis=1)[:, self._cut_px :][:, : GROUP * self.module_px]
        return np.packbits(pixels, axis=1)
