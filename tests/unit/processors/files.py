"""Finished files as a camera would get them: grey pixels on the page that they are made for.

No code of ours or of segno's reads them: PNG by `pixels`, SVG by the painter here, which knows paths of
horizontal strokes and full rectangles and refuses all else.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from tests.unit.processors.pixels import read_png

SVG = "{http://www.w3.org/2000/svg}"
PX_A_UNIT = 8
"""Of a drawing, as the default scale of a PNG; OpenCV does not find version 40 at 4."""


def grey_of(artifact: bytes, media_type: str, page: int = 255) -> NDArray[np.uint8]:
    """Brightness of each pixel, height x width, as it looks on a page of that brightness."""
    if media_type == "image/png":
        pixels = read_png(artifact)
        grey = pixels[:, :, :3].astype(np.int32) @ np.array((306, 601, 117)) >> 10
        return np.where(pixels[:, :, 3] == 0, page, grey).astype(np.uint8)
    assert media_type == "image/svg+xml"
    return np.repeat(np.repeat(_painted(artifact, page), PX_A_UNIT, axis=0), PX_A_UNIT, axis=1)


def _painted(artifact: bytes, page: int) -> NDArray[np.uint8]:
    root = ET.fromstring(artifact)
    scales = [_scale_of(element) for element in root.iter() if "transform" in element.attrib]
    assert len(scales) <= 1
    if "viewBox" in root.attrib:
        assert not scales
        left, top, width, height = (int(number) for number in root.attrib["viewBox"].split())
        assert (left, top) == (0, 0)
    else:
        width, height = (int(root.attrib[name]) // (scales or [1])[0] for name in ("width", "height"))
    canvas = np.full((height, width), page, np.uint8)
    for element in root.iter():
        if element.tag == f"{SVG}path":
            _draw(canvas, element.attrib)
        else:
            assert element.tag in {f"{SVG}svg", f"{SVG}g"}
    return canvas


def _scale_of(element: ET.Element) -> int:
    found = re.fullmatch(r"scale\((\d+)\)", element.attrib["transform"])
    assert found is not None
    return int(found[1])


def _draw(canvas: NDArray[np.uint8], path: dict[str, str]) -> None:
    height, width = canvas.shape
    assert set(path) <= {"d", "fill", "stroke", "class", "transform"}
    if "fill" in path:
        assert path["d"] == f"M0 0h{width}v{height}h-{width}z"
        canvas[:] = _grey(path["fill"])
        return
    runs = re.findall(r"([Mm])(-?[\d.]+) (-?[\d.]+)h(\d+)", path["d"])
    assert "".join(f"{move}{x} {y}h{length}" for move, x, y, length in runs) == path["d"]
    x, y = 0.0, 0.0
    for move, dx, dy, length in runs:
        x, y = (float(dx), float(dy)) if move == "M" else (x + float(dx), y + float(dy))
        assert y % 1 == 0.5  # a stroke is one unit wide, half of it on each side
        canvas[int(y), int(x) : int(x) + int(length)] = _grey(path["stroke"])
        x += int(length)


def _grey(colour: str) -> int:
    digits = colour[1:]
    red, green, blue = bytes.fromhex("".join(digit * 2 for digit in digits) if len(digits) == 3 else digits)
    return (306 * red + 601 * green + 117 * blue) // 1024
