"""PNG files of one bit a pixel (PNG specification, third edition).

The bytes depend on nothing that is installed: docs/decisions/0005-png-writer.md has reasons and figures.
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final
from zlib import crc32

from processors.images.raster import Raster
from processors.images.scanlines import compressed_scanlines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from processors.images.layout import Layout

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_GREYSCALE, _PALETTE = 0, 3


def write_png(
    modules: NDArray[np.uint8], layout: Layout, dark: str | None, light: str | None
) -> bytes:
    """Return the file: `layout.side_px` square, colours `#rrggbb` or None for transparent."""
    greyscale = {dark, light} == {"#000000", "#ffffff"}
    light_bit = int(greyscale and dark == "#000000")  # a set bit is white in a greyscale image, entry 1 in a palette
    side = int(layout.side_px)
    header = pack(">2I5B", side, side, 1, _GREYSCALE if greyscale else _PALETTE, 0, 0, 0)
    chunks = [_chunk(b"IHDR", header)]
    if not greyscale:
        chunks += _palette(dark, light)
    raster = Raster(len(modules), int(layout.module_px), int(layout.before_px), int(layout.after_px), light_bit)
    chunks.append(_chunk(b"IDAT", compressed_scanlines(modules, raster)))
    chunks.append(_chunk(b"IEND", b""))
    return _SIGNATURE + b"".join(chunks)


def _palette(dark: str | None, light: str | None) -> list[bytes]:
    """Entry 0 light, entry 1 dark; a transparent one has the colour that it counts as."""
    colours = bytes.fromhex((light or "#ffffff")[1:] + (dark or "#000000")[1:])
    chunks = [_chunk(b"PLTE", colours)]
    if light is None:
        chunks.append(_chunk(b"tRNS", b"\x00"))
    elif dark is None:
        chunks.append(_chunk(b"tRNS", b"\xff\x00"))
    return chunks


def _chunk(name: bytes, body: bytes) -> bytes:
    return pack(">I", len(body)) + name + body + pack(">I", crc32(name + body))
