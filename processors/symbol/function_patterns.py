"""Modules that hold no data, and their colours (ISO/IEC 18004:2015, 6.3)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from processors.symbol.capacity import FIRST_WITH_VERSION_INFORMATION, alignment_centres, side_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIMING: Final = 6
"""Row and column of the timing patterns."""


def function_patterns(version: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the modules with function patterns alone, and where they or reserved areas lie.

    Both n x n. Format and version information and the dark module are reserved and
    light: so the masks are evaluated (7.8).
    """
    side = side_of(version)
    modules = np.zeros((side, side), np.uint8)
    taken = np.zeros((side, side), np.bool_)
    _timing(modules, taken)
    for row, column in ((3, 3), (3, side - 4), (side - 4, 3)):
        _finder(modules, taken, row, column)
    centres = alignment_centres(version)
    corners = {(6, 6), (6, side - 7), (side - 7, 6)}
    for row, column in set(product(centres, repeat=2)) - corners:
        _rings(modules, row, column, 2, dark=(0, 2))
        taken[row - 2 : row + 3, column - 2 : column + 3] = True
    _reserve(taken, version)
    return modules, taken


def data_region(version: int) -> NDArray[np.bool_]:
    """Return n x n, True for a module of a codeword or a remainder bit (7.7.3)."""
    return ~function_patterns(version)[1]


def _timing(modules: NDArray[np.uint8], taken: NDArray[np.bool_]) -> None:
    """Alternate from dark along row and column 6 (6.3.5); finders cover the ends."""
    modules[TIMING, ::2] = modules[::2, TIMING] = 1
    taken[TIMING] = taken[:, TIMING] = True


def _finder(modules: NDArray[np.uint8], taken: NDArray[np.bool_], row: int, column: int) -> None:
    """Draw a finder pattern about its centre, with its separator (6.3.3, 6.3.4)."""
    _rings(modules, row, column, 4, dark=(0, 1, 3))
    taken[max(0, row - 4) : row + 5, max(0, column - 4) : column + 5] = True


def _rings(modules: NDArray[np.uint8], row: int, column: int, radius: int, dark: tuple[int, ...]) -> None:
    """Paint squares about a centre, from the outermost; what lies outside is left out."""
    for distance in range(radius, -1, -1):
        rows = slice(max(0, row - distance), row + distance + 1)
        columns = slice(max(0, column - distance), column + distance + 1)
        modules[rows, columns] = distance in dark


def _reserve(taken: NDArray[np.bool_], version: int) -> None:
    """Reserve format information, the dark module (7.9.1) and version information (7.10)."""
    taken[:9, 8] = taken[8, :9] = True
    taken[-8:, 8] = taken[8, -8:] = True
    if version >= FIRST_WITH_VERSION_INFORMATION:
        taken[:6, -11:-8] = taken[-11:-8, :6] = True
