from __future__ import annotations

import re
import tracemalloc
from io import BytesIO
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import segno
from numpy.typing import NDArray

from processors.images.layout import Layout
from processors.images.svg import write_svg
from processors.render import render
from processors.symbol import make_symbol
from tests.unit.processors.conftest import MakeSpec

SVG = "{http://www.w3.org/2000/svg}"


def painted(artifact: bytes, scale: int = 8) -> tuple[ET.Element, NDArray[np.object_]]:
    """The root element, and the colour of each module (None where nothing is painted)."""
    root = ET.fromstring(artifact)
    if "viewBox" in root.attrib:
        _, _, width, height = (int(number) for number in root.attrib["viewBox"].split())
    else:
        width = height = int(root.attrib["width"]) // scale
    canvas = np.full((height, width), None, dtype=object)
    for path in root.iter(f"{SVG}path"):
        if "fill" in path.attrib:
            assert path.attrib["d"] == f"M0 0h{width}v{height}h-{width}z"
            canvas[:] = path.attrib["fill"]
            continue
        x, y = 0.0, 0.0
        for move, dx, dy, length in re.findall(r"([Mm])(-?\d+) (-?[\d.]+)h(\d+)", path.attrib["d"]):
            x, y = (float(dx), float(dy)) if move == "M" else (x + float(dx), y + float(dy))
            canvas[int(y - 0.5), int(x) : int(x) + int(length)] = path.attrib["stroke"]
            x += int(length)
    return root, canvas


@pytest.mark.parametrize(
    ("dark", "light", "dark_name", "light_name"),
    [
        ("#000000", "#ffffff", "#000", "#fff"),
        ("#0b3d91", "#f5f5f5", "#0b3d91", "#f5f5f5"),
        ("#123456", None, "#123456", None),
        (None, "#fedcba", None, "#fedcba"),
        ("#ffffff", "#000000", "#fff", "#000"),
    ],
)
@pytest.mark.parametrize("margin", [0, 4])
def test_each_module_and_the_quiet_zone_have_their_colour(
    spec_of: MakeSpec, dark: str | None, light: str | None, dark_name: str | None, light_name: str | None, margin: int
) -> None:
    spec = spec_of(format="svg", dark=dark, light=light, margin=margin)
    _, canvas = painted(render(spec).artifact)
    expected = np.pad(make_symbol(spec).modules, margin)

    assert np.array_equal(canvas == dark_name, expected == 1)
    assert np.array_equal(canvas == light_name, expected == 0)


@pytest.mark.parametrize(
    ("fields", "px", "module_px"),
    [
        ({}, "264", 8.0),
        ({"scale": 1.0}, "33", 1.0),
        ({"scale": 1.1}, "36.3", 1.1),
        ({"scale": 0.01}, "0.33", 0.01),
        ({"size": 200.0}, "200", round(200 / 33, 4)),
        ({"size": 300.0, "margin": 0.0}, "300", 12.0),
    ],
)
def test_scale_and_size_set_the_outer_size_exactly(
    spec_of: MakeSpec, fields: dict[str, object], px: str, module_px: float
) -> None:
    rendered = render(spec_of(format="svg", **fields))
    root = ET.fromstring(rendered.artifact)

    assert (root.attrib["width"], root.attrib["height"]) == (px, px)
    assert ("viewBox" in root.attrib) == (fields not in ({}, {"scale": 1.0}))
    assert rendered.verification.module_px == module_px
    assert rendered.verification.quiet_zone_modules == fields.get("margin", 4.0)
    assert rendered.media_type == "image/svg+xml"


@pytest.mark.parametrize("version", [1, 2, 6, 7, 14, 21, 40])
@pytest.mark.parametrize("margin", [0, 1, 4, 11])
def test_a_whole_scale_gives_the_bytes_of_segno(version: int, margin: int) -> None:
    made = segno.make("segno", version=version, error="l", mode="byte", micro=False, boost_error=False)
    modules = np.array([list(row) for row in made.matrix], np.uint8)
    colours = [
        ("#000000", "#ffffff"), ("#000000", None), ("#ffffff", "#000000"), ("#0b3d91", "#f5f5f5"),
        ("#ff0000", "#d2b48c"), ("#d2b48c", "#ff0000"), ("#112233", "#aabbcd"), ("#123456", None),
    ]
    for scale in (1, 2, 8, 57):
        side = (len(modules) + 2 * margin) * scale
        for dark, light in colours:
            expected = BytesIO()
            made.save(expected, kind="svg", scale=scale, border=margin, dark=dark, light=light)
            ours = write_svg(modules, margin, Layout(side, scale, margin * scale, margin * scale), dark, light)

            assert ours == expected.getvalue()


def test_a_request_with_a_whole_scale_gets_the_bytes_of_segno(spec_of: MakeSpec) -> None:
    made = segno.make("https://example.com", error="m", mode="byte", encoding="utf-8", micro=False)
    expected = BytesIO()
    made.save(expected, kind="svg", scale=8, border=4, dark="#000000", light="#ffffff")

    assert render(spec_of(format="svg")).artifact == expected.getvalue()


def test_a_wide_margin_around_transparent_modules_is_not_laid_out(spec_of: MakeSpec) -> None:
    tracemalloc.start()
    try:
        rendered = render(spec_of(format="svg", dark=None, margin=4_900, size=10_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert rendered.artifact.count(b"h9825") == 2 * 4_900
    assert peak < 10_000_000
