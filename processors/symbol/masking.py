"""Data mask patterns (ISO/IEC 18004:2015, 7.8.2, table 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MASKS: Final = 8
_PERIOD: Final = 12
"""Modules after which every mask repeats, along rows and columns."""


def mask_patterns(side: int) -> NDArray[np.bool_]:
    """Return, 8 x n x n, which modules each mask inverts; i is the row and j the column."""
    i, j = np.indices((_PERIOD, _PERIOD))
    tiles = np.stack(
        [
            (i + j) % 2 == 0,
            i % 2 == 0,
            j % 3 == 0,
            (i + j) % 3 == 0,
            (i // 2 + j // 3) % 2 == 0,
            i * j % 2 + i * j % 3 == 0,
            (i * j % 2 + i * j % 3) % 2 == 0,
            ((i + j) % 2 + i * j % 3) % 2 == 0,
        ]
    )
    times = -(-side // _PERIOD)
    return np.tile(tiles, (1, times, times))[:, :side, :side]
