"""Where a symbol has data: the modules that no function pattern, format or version information takes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FINDER: Final = 8
"""Finder pattern and separator, modules a side (ISO/IEC 18004:2015, 6.3.3 and 6.3.4)."""
_TIMING: Final = 6
"""Row and column of the timing patterns (6.3.5)."""
_FIRST_WITH_VERSION: Final = 7


@lru_cache(maxsize=4)
def data_region(version: int) -> NDArray[np.bool_]:
    """Return n x n, n = 17 + 4 * version: True for a module of a codeword or a remainder bit (7.7.3). Read-only."""
    side = 17 + 4 * version
    free = np.ones((side, side), dtype=bool)
    # Format information (7.9.1) and the dark module lie along the finder patterns, one module wide.
    beside = _FINDER + 1
    free[:beside, :beside] = False
    free[:beside, -_FINDER:] = False
    free[-_FINDER:, :beside] = False
    free[_TIMING, :] = False
    free[:, _TIMING] = False
    centres = alignment_centres(version)
    for row in centres:
        for column in centres:
            # None where a finder pattern is: at three of the four corners (annex E).
            if (row, column) not in {(6, 6), (6, side - 7), (side - 7, 6)}:
                free[row - 2 : row + 3, column - 2 : column + 3] = False
    if version >= _FIRST_WITH_VERSION:
        free[:6, -11:-8] = False
        free[-11:-8, :6] = False
    free.setflags(write=False)
    return free


def alignment_centres(version: int) -> tuple[int, ...]:
    """Return the rows, which are the columns too, of the alignment patterns' centres (annex E).

    They lie in even steps back from the side; what is left over narrows the first one.
    """
    if version == 1:
        return ()
    last, steps = 4 * version + 10, version // 7 + 1
    step = 2 * -(-(last - 6) // (2 * steps))
    if version == 32:  # noqa: PLR2004  # the one row of the table that keeps another rule
        step = 26
    return (6, *(last - step * back for back in reversed(range(steps))))
