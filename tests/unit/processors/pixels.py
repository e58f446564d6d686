"""A PNG reader of the tests' own: no code of ours or of segno's (PNG specification, third edition)."""

from __future__ import annotations

import zlib
from struct import unpack

import numpy as np
from numpy.typing import NDArray


def read_png(raw: bytes) -> NDArray[np.uint8]:
    """Pixels as RGBA, height x width x 4; a fully transparent pixel is all zero."""
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(raw):
        (length,) = unpack(">I", raw[at : at + 4])
        name, body = raw[at + 4 : at + 8], raw[at + 8 : at + 8 + length]
        assert unpack(">I", raw[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + body)
        chunks[name] = chunks.get(name, b"") + body
        at += 12 + length
    width, height, depth, colour, *rest = unpack(">2I5B", chunks[b"IHDR"])
    assert (depth, rest) == (1, [0, 0, 0])
    bits = np.unpackbits(_unfiltered(zlib.decompress(chunks[b"IDAT"]), (width + 7) // 8, height), axis=1)[:, :width]
    return _palette(colour, chunks)[bits]


def _unfiltered(lines: bytes, stride: int, height: int) -> NDArray[np.uint8]:
    assert len(lines) == height * (stride + 1)
    rows = np.frombuffer(lines, np.uint8).reshape(height, stride + 1)
    out = np.zeros((height, stride), np.uint8)
    above = np.zeros(stride, np.uint8)
    for index, (kind, row) in enumerate(zip(rows[:, 0], rows[:, 1:], strict=True)):
        assert kind in (0, 2)
        out[index] = row + above if kind == 2 else row
        above = out[index]
    return out


def _palette(colour: int, chunks: dict[bytes, bytes]) -> NDArray[np.uint8]:
    transparency = chunks.get(b"tRNS")
    if colour == 0:
        entries = np.array([[0, 0, 0, 255], [255, 255, 255, 255]], np.uint8)
        if transparency is not None:
            entries[unpack(">H", transparency)[0]] = 0
        return entries
    assert colour == 3
    rgb = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    alpha = np.frombuffer((transparency or b"").ljust(len(rgb), b"\xff"), np.uint8)
    entries = np.column_stack([rgb, alpha])
    entries[alpha == 0] = 0
    return entries
