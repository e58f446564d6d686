"""An artifact turned into pixels and read back, by code of the tests alone."""

from __future__ import annotations

import re
import struct
import zlib
from typing import Final

import numpy as np
import zxingcpp
from numpy.typing import NDArray

SVG_SCALE: Final = 4
QR_CODE: Final = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def content_of(artifact: bytes, media_type: str) -> bytes:
    """The bytes that the symbol says. Raises AssertionError unless exactly one QR Code is found."""
    pixels = png_pixels(artifact) if media_type == "image/png" else svg_pixels(artifact)
    found = zxingcpp.read_barcodes(pixels, formats=QR_CODE, try_rotate=False)
    if not found:  # no quiet zone was asked for: give the reader one, the symbol is what is checked
        roomy = np.pad(pixels, 40, constant_values=255)
        found = zxingcpp.read_barcodes(roomy, formats=QR_CODE, try_rotate=False)
    assert len(found) == 1, f"{len(found)} QR Codes found in {len(artifact)} bytes of {media_type}"
    return bytes(found[0].bytes)


def png_pixels(artifact: bytes) -> NDArray[np.uint8]:
    """Grey levels, transparency over white. Every chunk's CRC is checked."""
    assert artifact[:8] == b"\x89PNG\r\n\x1a\n"
    chunks = _chunks(artifact)
    header, data = chunks["IHDR"], chunks["IDAT"]
    width, height, depth, colour, _, _, interlace = struct.unpack(">2I5B", header)
    assert interlace == 0
    channels = _CHANNELS[colour]
    line_bytes = (width * depth * channels + 7) // 8
    step = max(1, depth * channels // 8)
    raw = zlib.decompress(data)
    assert len(raw) == height * (line_bytes + 1)
    rows: list[NDArray[np.uint8]] = []
    before = bytearray(line_bytes)
    for y in range(height):
        start = y * (line_bytes + 1)
        before = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + line_bytes]), before, step)
        rows.append(np.frombuffer(bytes(before), np.uint8))
    samples = np.stack(rows)
    if depth < 8:
        assert depth == 1, f"bit depth {depth}"
        samples = np.unpackbits(samples, axis=1)[:, :width]
    if colour == 3:
        return _palette(chunks)[samples]
    if colour == 0:
        return (samples * (255 if depth == 1 else 1)).astype(np.uint8)
    raise AssertionError(f"colour type {colour} is not read by the tests")


def _chunks(artifact: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    at = 8
    while at < len(artifact):
        (length,) = struct.unpack_from(">I", artifact, at)
        name, body = artifact[at + 4 : at + 8], artifact[at + 8 : at + 8 + length]
        (crc,) = struct.unpack_from(">I", artifact, at + 8 + length)
        assert crc == zlib.crc32(name + body), f"CRC of chunk {name!r}"
        found[name.decode()] = found.get(name.decode(), b"") + body
        at += 12 + length
    assert at == len(artifact)
    return found


def _unfiltered(kind: int, line: bytearray, before: bytearray, step: int) -> bytearray:
    assert kind in (0, 1, 2), f"filter {kind} is not read by the tests"
    if kind == 1:
        for i in range(step, len(line)):
            line[i] = (line[i] + line[i - step]) & 0xFF
    elif kind == 2:
        summed = np.frombuffer(bytes(line), np.uint8) + np.frombuffer(bytes(before), np.uint8)
        return bytearray(summed.astype(np.uint8).tobytes())
    return line


def _palette(chunks: dict[str, bytes]) -> NDArray[np.uint8]:
    colours = np.frombuffer(chunks["PLTE"], np.uint8).reshape(-1, 3).astype(float)
    alpha = np.full(len(colours), 255.0)
    given = chunks.get("tRNS", b"")
    alpha[: len(given)] = np.frombuffer(given, np.uint8)
    grey = colours @ np.array([0.299, 0.587, 0.114])
    levels: NDArray[np.uint8] = np.clip(np.round(grey * alpha / 255 + 255 * (1 - alpha / 255)), 0, 255).astype(np.uint8)
    return levels


def svg_pixels(artifact: bytes) -> NDArray[np.uint8]:
    """Grey levels of an SVG that draws a ground and horizontal strokes one unit wide, as ours do."""
    text = artifact.decode("utf-8")
    width, height = _units(text)
    units = np.full((height, width), 255, np.uint8)
    for path in re.finditer(r"<path ([^>]*?)/>", text):
        attributes = dict(re.findall(r'([a-z-]+)="([^"]*)"', path[1]))
        if "fill" in attributes:
            units[:] = _grey(attributes["fill"])
        else:
            _stroke(units, attributes["d"], _grey(attributes["stroke"]))
    return np.repeat(np.repeat(units, SVG_SCALE, axis=0), SVG_SCALE, axis=1)


def _units(text: str) -> tuple[int, int]:
    """Width and height in modules: the view box, or where there is none the size in px by the scale."""
    box = re.search(r'viewBox="0 0 (\d+) (\d+)"', text)
    if box is not None:
        return int(box[1]), int(box[2])
    size, scale = re.search(r'width="(\d+)" height="(\d+)"', text), re.search(r'transform="scale\((\d+)\)"', text)
    assert size is not None, "neither view box nor size"
    factor = 1 if scale is None else int(scale[1])
    return int(size[1]) // factor, int(size[2]) // factor


def _stroke(units: NDArray[np.uint8], path: str, level: int) -> None:
    x = y = 0.0
    for command, arguments in re.findall(r"([Mmh])([^Mmh]*)", path):
        numbers = [float(n) for n in re.findall(r"-?\d*\.?\d+", arguments)]
        if command == "M":
            x, y = numbers
        elif command == "m":
            x, y = x + numbers[0], y + numbers[1]
        else:
            units[int(y), int(x) : int(x + numbers[0])] = level
            x += numbers[0]


def _grey(colour: str) -> int:
    digits = colour.removeprefix("#")
    named = {"black": "000000", "white": "ffffff", "red": "ff0000", "tan": "d2b48c"}
    digits = named.get(colour, digits if len(digits) == 6 else "".join(2 * d for d in digits))
    red, green, blue = bytes.fromhex(digits)
    return round(0.299 * red + 0.587 * green + 0.114 * blue)
