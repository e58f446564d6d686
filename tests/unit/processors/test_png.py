from __future__ import annotations

import subprocess
import sys
import tracemalloc
import zlib
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import cramjam
import numpy as np
import pytest
import segno
import zxingcpp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from processors.images import scanlines
from processors.images.layout import Layout, lay_out
from processors.images.png import write_png
from processors.render import render
from processors.symbol import make_symbol
from tests.unit.processors.conftest import MakeSpec
from tests.unit.processors.pixels import _unfiltered, read_png

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
    sizes = [(len(render(spec_of(CONTENT, scale=scale)).artifact), len(segno_png(scale=scale, border=4))) for scale in (1, 8, 20)]

    assert [round(ours / segnos, 1) for ours, segnos in sizes] == [1.1, 1.0, 1.3]


@st.composite
def rasters(draw: st.DrawFn) -> tuple[Layout, NDArray[np.uint8]]:
    """Symbols of any modules at scales below, at, beside and above eight, with any border."""
    modules, scale = draw(
        st.tuples(st.sampled_from([21, 25, 29, 45]), st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 40]))
        | st.tuples(st.just(177), st.integers(1, 4))
    )
    before = draw(st.integers(0, 40))
    after = draw(st.sampled_from([before, before + 1, 0, 33]))
    seed = draw(st.integers(0, 2**32 - 1))
    density = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    dark = np.random.default_rng(seed).random((modules, modules)) < density
    return Layout(before + modules * scale + after, scale, before, after), dark.astype(np.uint8)


@given(rasters(), st.sampled_from([("#000000", "#ffffff"), ("#ffffff", "#000000"), ("#123456", None), (None, "#fedcba")]))
@settings(max_examples=25, deadline=None)
def test_every_geometry_is_read_as_the_pixels_that_it_means(
    raster: tuple[Layout, NDArray[np.uint8]], colours: tuple[str | None, str | None]
) -> None:
    layout, modules = raster
    scale, before, after = int(layout.module_px), int(layout.before_px), int(layout.after_px)
    pixels = np.pad(modules.repeat(scale, axis=0).repeat(scale, axis=1), (before, after))
    dark, light = (np.array([*bytes.fromhex(colour[1:]), 255] if colour else [0] * 4, np.uint8) for colour in colours)
    file = write_png(modules, layout, *colours)

    assert np.array_equal(read_png(file), np.where(pixels[:, :, None] == 1, dark, light))
    assert bytes(cramjam.zlib.decompress(idat(file))) == zlib.decompress(idat(file))


def test_long_lines_are_repeated_by_a_filter_and_read_the_same(spec_of: MakeSpec) -> None:
    modules = make_symbol(spec_of(CONTENT)).modules
    file = write_png(modules, Layout(4_203, 168, 1, 2), "#000000", "#ffffff")
    lines = zlib.decompress(idat(file))
    kinds = lines[:: 4_203 // 8 + 2]

    assert (kinds.count(0), kinds.count(2)) == (1 + 25 + 1, 4_203 - 27)
    pixels = np.pad(modules.repeat(168, axis=0).repeat(168, axis=1), (1, 2))
    assert np.array_equal(np.unpackbits(_unfiltered(lines, 526, 4_203), axis=1)[:, :4_203], 1 - pixels)


def idat(file: bytes) -> bytes:
    at = file.index(b"IDAT")
    return file[at + 4 : at + 4 + int.from_bytes(file[at - 4 : at], "big")]


@pytest.mark.parametrize(
    ("fields", "sha256_of_file"),
    [
        ({}, "532e322b3b5009506b167cc71f071cd4e1935d3d6bfc85789837ade1057adc6a"),
        ({"scale": 1}, "9f392bd06cb105b871dcc822b44b847f09a9c01907ab2bee64fb9c7dbad6d927"),
        ({"size": 333, "margin": 2}, "637301b72a64b6d753bb8acde3bb45c4a10c0d6c712b72bace04f506632ab55b"),
        ({"scale": 50}, "8f49660ab49f89ba05c490b424d7e43d6739926113066086a76edc9d63238907"),
        ({"dark": "#0b3d91", "light": None}, "00f7be7877bc4b9d5e3e8db6db764ad324686bb7847bad3f9da03a741c704482"),
    ],
)
def test_the_bytes_are_these_for_ever(spec_of: MakeSpec, fields: dict[str, object], sha256_of_file: str) -> None:
    assert sha256(render(spec_of(CONTENT, **fields)).artifact).hexdigest() == sha256_of_file


OTHER_ZLIBS = {
    "zlib-ng": "import sys; from zlib_ng import zlib_ng; sys.modules['zlib'] = zlib_ng",
    "none": "import zlib; zlib.compress = zlib.compressobj = zlib.adler32 = None",
}
PROGRAM = """
from hashlib import sha256
from processors.canonical import identify
from processors.render import render
from schemas.events import RenderRequested
for fields in ({}, {"scale": 1}, {"size": 777}, {"dark": None, "scale": 20}, {"format": "pdf"}, {"format": "eps"}, {"format": "svg"}):
    spec, _ = identify(RenderRequested(request_id="r", requested_at=0, content="0123 menü", **fields))
    print(sha256(render(spec).artifact).hexdigest())
"""


@pytest.mark.parametrize("other", OTHER_ZLIBS.values(), ids=OTHER_ZLIBS)
def test_the_bytes_do_not_depend_on_the_interpreters_zlib(repository: Path, other: str) -> None:
    runs = [
        subprocess.run([sys.executable, "-c", before + PROGRAM], cwd=repository, capture_output=True, text=True, check=True)
        for before in ("", other)
    ]

    assert len(runs[0].stdout.split()) == 7
    assert runs[0].stdout == runs[1].stdout


@pytest.mark.parametrize(("content", "margin"), [("A", 0), (CONTENT, 4)])
def test_an_image_of_the_greatest_size_takes_little_memory(spec_of: MakeSpec, content: str, margin: int) -> None:
    spec = spec_of(content, size=10_000, margin=margin)
    symbol = make_symbol(spec)
    layout = lay_out(spec, symbol.side, 10_000)
    scanlines._plan.cache_clear()
    tracemalloc.start()
    try:
        file = write_png(symbol.modules, layout, "#000000", "#ffffff")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(file) < 40_000
    assert peak < 6_000_000  # its pixels, packed, are 12,500,000 bytes
