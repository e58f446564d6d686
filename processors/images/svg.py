"""SVG files of horizontal strokes, one unit high (SVG 1.1, 8.3).

A whole scale gives byte for byte what segno 1.6.6 writes by default for the same scale, border and
colours. Where segno's own drawing would be wrong (its background ends early at a fractional scale,
and covers transparent dark modules) or does not exist (an exact size), the file is drawn at one
unit a module and the root element maps it to px.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from processors.images.drawing import Drawing, draw
from processors.images.numbers import decimal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from processors.images.layout import Layout

_PROLOGUE: Final = '<?xml version="1.0" encoding="utf-8"?>\n<svg xmlns="http://www.w3.org/2000/svg"'
_SHORTER_NAMES: Final = {"#ff0000": "red", "#d2b48c": "tan"}
"""The two of segno's; of 140 CSS colours more, a name is shorter than its digits for some, but segno has these."""


def write_svg(
    modules: NDArray[np.uint8], margin: int, layout: Layout, dark: str | None, light: str | None
) -> bytes:
    """Return the file, UTF-8, `layout.side_px` wide; margin in modules, None is transparent."""
    drawing = draw(modules, margin, dark, light)
    if dark is None or layout.exact or layout.module_px != int(layout.module_px):
        return _fitted(drawing, decimal(layout.side_px)).encode()
    return _scaled(drawing, int(layout.module_px)).encode()


def _fitted(drawing: Drawing, px: str) -> str:
    side = drawing.side
    ink = f'<path stroke="{_short(drawing.ink)}" d="{_strokes(drawing)}"/>'
    return f'{_PROLOGUE} width="{px}" height="{px}" viewBox="0 0 {side} {side}">{_ground(drawing)}{ink}</svg>\n'


def _scaled(drawing: Drawing, scale: int) -> str:
    px = drawing.side * scale
    transform = f' transform="scale({scale})"' if scale != 1 else ""
    ground = _ground(drawing)
    begin, end = (f"<g{transform}>", "</g>") if ground and transform else ("", "")
    own = "" if begin else transform
    ink = f'<path{own} class="qrline" stroke="{_short(drawing.ink)}" d="{_strokes(drawing)}"/>'
    return f'{_PROLOGUE} width="{px}" height="{px}" class="segno">{begin}{ground}{ink}{end}</svg>\n'


def _ground(drawing: Drawing) -> str:
    if drawing.ground is None:
        return ""
    side = drawing.side
    return f'<path fill="{_short(drawing.ground)}" d="M0 0h{side}v{side}h-{side}z"/>'


def _strokes(drawing: Drawing) -> str:
    """Path data: the first stroke from its place, each other from the end of the one before it."""
    rows, starts, lengths = drawing.rows, drawing.starts, drawing.lengths
    steps = np.empty((len(rows), 3), np.intp)
    steps[0] = starts[0], rows[0], lengths[0]
    steps[1:, 0] = starts[1:] - starts[:-1] - lengths[:-1]
    steps[1:, 1] = rows[1:] - rows[:-1]
    steps[1:, 2] = lengths[1:]
    x, y, length, *rest = steps.reshape(-1).tolist()
    others = "m%d %dh%d" * (len(rows) - 1) % tuple(rest)
    return f"M{x} {y}.5h{length}{others}"  # a stroke's middle is half a module below its upper edge


def _short(colour: str) -> str:
    """The shortest form of `#rrggbb` that segno knows."""
    if colour in _SHORTER_NAMES:
        return _SHORTER_NAMES[colour]
    doubled = all(colour[at] == colour[at + 1] for at in (1, 3, 5))
    return f"#{colour[1]}{colour[3]}{colour[5]}" if doubled else colour
