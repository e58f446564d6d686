"""A symbol as what a vector format paints: a ground, and horizontal runs of modules in one colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEAST_RUN_BYTES: Final = 6
"""Of a run in any format: svg's `m0 1h1`; pdf and eps have more."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Lengths in modules, y downwards.

    side: whole side with its margin. ground: colour of the whole square, painted first; None leaves
    it as it is. ink: colour of the runs. rows, starts, lengths: of each run, row by row from the left.
    """

    side: int
    ground: str | None
    ink: str
    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    lengths: NDArray[np.intp]


def draw(modules: NDArray[np.uint8], margin: int, dark: str | None, light: str | None) -> Drawing:
    """Return the drawing of `modules` (uint8, n x n, 1 is dark), colours `#rrggbb` or None for transparent.

    Where the dark modules are transparent, the light ones and the margin are painted and they are
    left out. Raises ValueError where both are.
    """
    side = len(modules) + 2 * margin
    if dark is None:
        if light is None:
            raise ValueError("nothing to paint: both colours are transparent")
        return Drawing(side, None, light, *_runs_around(modules, margin))
    rows, starts, lengths = _runs(modules)
    return Drawing(side, light, dark, rows + margin, starts + margin, lengths)


def least_bytes(margin: int, dark: str | None) -> int:
    """Bytes that a drawing cannot be below. Where the dark modules are transparent each row of the margin is a run."""
    return 0 if dark is not None else 2 * margin * LEAST_RUN_BYTES


Runs = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


def _runs(cells: NDArray[np.uint8]) -> Runs:
    """Row, first column and length of each run of ones."""
    height, columns = cells.shape
    width = columns + 1
    ended = np.zeros(height * width + 1, np.int8)  # a zero before the first row, and behind each
    ended[1:].reshape(height, width)[:, :-1] = cells
    changes = np.flatnonzero(np.diff(ended))
    begins, ends = changes[::2], changes[1::2]
    rows = begins // width
    return rows, begins - rows * width, ends - begins


def _runs_around(modules: NDArray[np.uint8], margin: int) -> Runs:
    """Runs of what is not dark, the margin with it. The rows of the margin are not laid out: it may be wide."""
    side = len(modules) + 2 * margin
    rows, starts, lengths = _runs(1 - np.pad(modules, ((0, 0), (margin, margin))))
    above = np.arange(margin)
    none, full = np.zeros(margin, np.intp), np.full(margin, side)
    return (
        np.concatenate((above, rows + margin, above + side - margin)),
        np.concatenate((none, starts, none)),
        np.concatenate((full, lengths, full)),
    )
