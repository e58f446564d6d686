"""PNG files of one bit a pixel (PNG specification, third edition; RFC 1950).

Not segno's writer: it cannot pad by single pixels, and its bytes come from the
interpreter's zlib, which differs between Pythons and distributions. Deflate is
cramjam's, from its pinned wheel, which has a compiled-in implementation.
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final
from zlib import crc32

import cramjam
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from processors.images.layout import Layout

MEDIA_TYPE: Final = "image/png"
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_GREYSCALE, _PALETTE = 0, 3
_NO_FILTER, _UP = b"\x00", b"\x02"
_LEVEL: Final = 6
"""Repeated rows are zeros after the Up filter: level 9 gains nothing, level 1 is a tenth larger."""


def write_png(
    modules: NDArray[np.uint8], layout: Layout, dark: str | None, light: str | None
) -> bytes:
    """Return the file: `layout.side_px` square, colours `#rrggbb` or None for transparent."""
    greyscale = {dark, light} == {"#000000", "#ffffff"}
    inverted = greyscale and dark == "#000000"  # a set bit is white in a greyscale image
    side = int(layout.side_px)
    header = pack(">2I5B", side, side, 1, _GREYSCALE if greyscale else _PALETTE, 0, 0, 0)
    chunks = [_chunk(b"IHDR", header)]
    if not greyscale:
        chunks += _palette(dark, light)
    rows = _scanlines(modules, layout, flip=int(inverted))
    chunks.append(_chunk(b"IDAT", bytes(cramjam.zlib.compress(rows, level=_LEVEL))))
    chunks.append(_chunk(b"IEND", b""))
    return _SIGNATURE + b"".join(chunks)


def _scanlines(modules: NDArray[np.uint8], layout: Layout, flip: int) -> bytes:
    """Filtered rows: each distinct one once, its repetitions by filter Up over zeros."""
    module_px, before, after = int(layout.module_px), int(layout.before_px), int(layout.after_px)
    wide = np.pad(np.repeat(modules, module_px, axis=1), ((0, 0), (before, after)))
    packed = np.packbits(wide ^ flip, axis=1)
    border = np.packbits(np.full(wide.shape[1], flip, dtype=np.uint8)).tobytes()
    same = _UP + bytes(len(border))
    lines = []
    if before:
        lines += [_NO_FILTER + border, same * (before - 1)]
    for row in packed:
        lines += [_NO_FILTER + row.tobytes(), same * (module_px - 1)]
    if after:
        lines += [_NO_FILTER + border, same * (after - 1)]
    return b"".join(lines)


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
