"""SVG files, drawn by segno in modules; the root element maps them to px."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

import numpy as np
from segno import writers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from processors.images.layout import Layout

MEDIA_TYPE: Final = "image/svg+xml"


def write_svg(
    modules: NDArray[np.uint8], margin: int, layout: Layout, dark: str | None, light: str | None
) -> bytes:
    """Return the file, UTF-8, `layout.side_px` wide; margin in modules, None is transparent.

    Always drawn at one unit a module: with a fractional scale segno's background
    ends before its modules do (`width // scale` of floats), and where the dark
    modules are transparent it covers them. Then the light modules are drawn alone.
    """
    if dark is None:
        modules = 1 - np.pad(modules, margin)
        margin, dark, light = 0, light, None
    out = BytesIO()
    side = len(modules)
    writers.save(  # type: ignore[attr-defined]  # segno ships stubs for its front page only
        [bytearray(row.tobytes()) for row in modules],
        (side, side),
        out,
        kind="svg",
        border=margin,
        dark=dark,
        light=light,
        omitsize=True,
        svgclass=None,
        lineclass=None,
    )
    view = f' viewBox="0 0 {side + 2 * margin} {side + 2 * margin}"'.encode()
    px = f"{layout.side_px:.6f}".rstrip("0").rstrip(".")
    return out.getvalue().replace(view, f' width="{px}" height="{px}"'.encode() + view, 1)
