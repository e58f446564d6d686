"""Encapsulated PostScript files (EPSF 3.0; PostScript Language Reference, Level 2).

Written here rather than by segno, whose file has the time of its making, a bounding box that is
not whole at a fractional scale, and a background that fills the page around the picture too.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from processors.images.drawing import draw
from processors.images.numbers import decimal, rgb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from processors.images.layout import Layout


def write_eps(
    modules: NDArray[np.uint8], margin: int, layout: Layout, dark: str | None, light: str | None
) -> bytes:
    """Return the file, `layout.side_px` points wide; margin in modules, None is transparent."""
    drawing = draw(modules, margin, dark, light)
    side = decimal(layout.side_px)
    whole = ceil(float(side))  # of what is written: 25 modules of 0.28 are 7.000000000000001 in doubles
    lines = [
        "%!PS-Adobe-3.0 EPSF-3.0",
        "%%Creator: qrstream",
        f"%%BoundingBox: 0 0 {whole} {whole}",
        f"%%HiResBoundingBox: 0 0 {side} {side}",
        "%%LanguageLevel: 2",
        "%%DocumentData: Clean7Bit",
        "%%EndComments",
        "gsave",
        f"{side} {drawing.side} div dup scale",
        "/r { 1 rectfill } bind def",
    ]
    if drawing.ground is not None:
        lines += [f"{rgb(drawing.ground)} setrgbcolor", f"0 0 {drawing.side} {drawing.side} rectfill"]
    lines.append(f"{rgb(drawing.ink)} setrgbcolor")
    bottoms = drawing.side - 1 - drawing.rows
    runs = zip(drawing.starts.tolist(), bottoms.tolist(), drawing.lengths.tolist(), strict=True)
    lines += [f"{x} {y} {length} r" for x, y, length in runs]
    lines += ["grestore", "%%EOF", ""]
    return "\n".join(lines).encode("ascii")
