"""PDF files of one page that is the symbol (ISO 32000-1:2008, PDF 1.4).

Written here rather than by segno, whose file has the time of its making, is deflated by the
interpreter's zlib, saves a graphics state that it does not restore, and has no resources and no
scale below one. The content is not compressed: 1/72 inch a unit, a rectangle for each run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from processors.images.drawing import Drawing, draw
from processors.images.numbers import decimal, rgb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from processors.images.layout import Layout

_HEADER: Final = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
"""7.5.2: four bytes above 127 tell programs that transfer files that this one is binary."""
_SCALE_PLACES: Final = 10
"""Decimals of the scale: across 10,000 points its error stays far below a device's pixel."""


def write_pdf(
    modules: NDArray[np.uint8], margin: int, layout: Layout, dark: str | None, light: str | None
) -> bytes:
    """Return the file, `layout.side_px` points wide; margin in modules, None is transparent."""
    side = decimal(layout.side_px)
    content = _content(draw(modules, margin, dark, light), layout.side_px)
    objects = (
        "<</Type /Catalog /Pages 2 0 R>>",
        "<</Type /Pages /Kids [3 0 R] /Count 1>>",
        f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 {side} {side}] /Resources <<>> /Contents 4 0 R>>",
        f"<</Length {len(content)}>>\nstream\n{content}\nendstream",
        "<</Producer (qrstream)>>",
    )
    return _file(objects)


def _content(drawing: Drawing, side_px: float) -> str:
    """The page's content (8.2): y goes upwards."""
    scale = decimal(side_px / drawing.side, _SCALE_PLACES)
    lines = [f"{scale} 0 0 {scale} 0 0 cm"]
    if drawing.ground is not None:
        lines += [f"{rgb(drawing.ground)} rg", f"0 0 {drawing.side} {drawing.side} re f"]
    lines.append(f"{rgb(drawing.ink)} rg")
    bottoms = drawing.side - 1 - drawing.rows
    runs = zip(drawing.starts.tolist(), bottoms.tolist(), drawing.lengths.tolist(), strict=True)
    lines += [f"{x} {y} {length} 1 re" for x, y, length in runs]
    lines.append("f")
    return "\n".join(lines)


def _file(objects: tuple[str, ...]) -> bytes:
    """Objects, cross-reference table and trailer (7.5); the first is the catalogue, the last the information."""
    out = bytearray(_HEADER)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("ascii")
    table = len(out)
    count = len(objects) + 1
    out += f"xref\n0 {count}\n0000000000 65535 f \n".encode("ascii")
    out += "".join(f"{place:010d} 00000 n \n" for place in places).encode("ascii")
    out += f"trailer\n<</Size {count} /Root 1 0 R /Info {len(objects)} 0 R>>\nstartxref\n{table}\n%%EOF\n".encode("ascii")
    return bytes(out)
