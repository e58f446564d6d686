from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
import segno
import zxingcpp

from processors.render import render
from tests.unit.processors.conftest import MakeSpec
from tests.unit.processors.pixels import read_png

CONTENT = "https://example.com/menü"


def segno_png(**options: object) -> bytes:
    made = segno.make(CONTENT, error="m", mode="byte", encoding="utf-8", micro=False)
    out = BytesIO()
    made.save(out, kind="png", **options)
    return out.getvalue()


@pytest.mark.parametrize("scale", [1, 2, 3, 8])
@pytest.mark.parametrize("margin", [0, 1, 4])
def test_the_pixels_are_those_of_segno_at_every_scale_and_margin(spec_of: MakeSpec, scale: int, margin: int) -> None:
    ours = render(spec_of(CONTENT, scale=scale, margin=margin)).artifact

    assert np.array_equal(read_png(ours), read_png(segno_png(scale=scale, border=margin)))


@pytest.mark.parametrize(
    ("dark", "light"),
    [
        ("#000000", "#ffffff"),
        ("#ffffff", "#000000"),
        ("#000000", None),
        (None, "#ffffff"),
        ("#123456", None),
        (None, "#fedcba"),
        ("#0b3d91", "#f5f5f5"),
        ("#000000", "#f5f5f5"),
    ],
)
def test_the_pixels_are_those_of_segno_in_every_colour(spec_of: MakeSpec, dark: str | None, light: str | None) -> None:
    ours = render(spec_of(CONTENT, scale=2, dark=dark, light=light)).artifact

    assert np.array_equal(read_png(ours), read_png(segno_png(scale=2, border=4, dark=dark, light=light)))


@pytest.mark.parametrize(("size", "margin"), [(200, 0), (201, 4), (33, 2), (264, 4), (1000, 4)])
def test_an_exact_size_has_whole_modules_and_an_even_border(spec_of: MakeSpec, size: int, margin: int) -> None:
    rendered = render(spec_of(CONTENT, size=size, margin=margin))
    dark = read_png(rendered.artifact)[:, :, 0] == 0
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    module = size // (25 + 2 * margin)
    before, after = columns[0], size - 1 - columns[-1]

    assert dark.shape == (size, size)
    assert columns[-1] - columns[0] + 1 == rows[-1] - rows[0] + 1 == 25 * module
    assert (rows[0], size - 1 - rows[-1]) == (before, after)
    assert before + after == size - 25 * module
    assert after - before in (0, 1)
    assert rendered.verification.module_px == module
    assert rendered.verification.quiet_zone_modules == round(before / module, 4)


def test_a_general_reader_finds_the_content_in_the_file(spec_of: MakeSpec) -> None:
    grey = np.ascontiguousarray(read_png(render(spec_of(CONTENT, size=300)).artifact)[:, :, 0])
    found = zxingcpp.read_barcode(grey)

    assert found is not None
    assert found.bytes == CONTENT.encode()


def test_the_file_is_small(spec_of: MakeSpec) -> None:
    assert len(render(spec_of(CONTENT, scale=20)).artifact) < 700
