"""PDF, EPS and text: what they paint, by readers of the tests' own, by PDFium, and by Ghostscript and Poppler where a machine has them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pytest
import segno
import zxingcpp
from numpy.typing import NDArray

from processors.errors import RenderRefused
from processors.images.txt import write_txt
from processors.render import render
from processors.symbol import make_symbol
from tests.unit.processors.conftest import MakeSpec

CONTENT = "https://example.com/menü"
Canvas = NDArray[np.object_]
COLOURS = [
    ("#000000", "#ffffff", "0 0 0", "1 1 1"),
    ("#0b3d91", "#f5f5f5", "0.0431 0.2392 0.5686", "0.9608 0.9608 0.9608"),
    ("#123456", None, "0.0706 0.2039 0.3373", None),
    (None, "#fedcba", None, "0.9961 0.8627 0.7294"),
    ("#ffffff", "#000000", "1 1 1", "0 0 0"),
]


def pdf_painted(file: bytes) -> tuple[float, float, Canvas]:
    """Side of the page, scale, and colour of each module, after the operators cm, rg, re and f (ISO 32000-1, annex A)."""
    page = re.search(rb"/MediaBox \[0 0 ([\d.]+) \1\]", file)
    stream = re.search(rb"<</Length (\d+)>>\nstream\n(.*)\nendstream", file, re.DOTALL)
    assert page is not None
    assert stream is not None
    assert len(stream[2]) == int(stream[1])
    tokens = stream[2].decode("ascii").split()
    operands: list[str] = []
    scale, colour, rectangles = 1.0, "0 0 0", []
    painted: list[tuple[str, list[int]]] = []
    for token in tokens:
        if token == "cm":
            assert operands[0] == operands[3]
            assert [operands[1], operands[2], *operands[4:]] == ["0"] * 4
            scale = float(operands[0])
        elif token == "rg":
            colour = " ".join(operands)
        elif token == "re":
            rectangles.append([int(operand) for operand in operands])
        elif token == "f":
            painted += [(colour, rectangle) for rectangle in rectangles]
            rectangles = []
        else:
            operands.append(token)
            continue
        operands = []
    return float(page[1]), scale, _canvas(painted, round(float(page[1]) / scale))


def eps_painted(file: bytes) -> tuple[float, float, Canvas]:
    """The same of an EPS: side of its bounding box, scale and colours (PostScript Language Reference, 8.2)."""
    lines = file.decode("ascii").splitlines()
    assert lines[0] == "%!PS-Adobe-3.0 EPSF-3.0"
    assert lines[-1] == "%%EOF"
    assert max(len(line) for line in lines) < 255
    side = scale = 0.0
    colour, painted = "0 0 0", []
    for line in lines:
        *operands, operator = line.split()
        if line.startswith("%%HiResBoundingBox: 0 0 "):
            side = float(operator)
        elif operator == "scale":
            assert operands[2:] == ["div", "dup"]
            scale = float(operands[0]) / float(operands[1])
        elif operator == "setrgbcolor":
            colour = " ".join(operands)
        elif operator in {"r", "rectfill"}:
            painted.append((colour, [int(operand) for operand in operands] + ([1] if operator == "r" else [])))
    return side, scale, _canvas(painted, round(side / scale))


def _canvas(painted: list[tuple[str, list[int]]], side: int) -> Canvas:
    canvas = np.full((side, side), None, dtype=object)
    for colour, (x, y, width, height) in painted:
        assert min(x, y) >= 0
        assert x + width <= side
        assert y + height <= side
        canvas[side - y - height : side - y, x : x + width] = colour
    return canvas


PAINTED = {"pdf": pdf_painted, "eps": eps_painted}


@pytest.mark.parametrize("format_", ["pdf", "eps"])
@pytest.mark.parametrize("colours", COLOURS)
@pytest.mark.parametrize("margin", [0, 4])
def test_each_module_and_the_quiet_zone_have_their_colour(
    spec_of: MakeSpec, format_: str, colours: tuple[str | None, str | None, str | None, str | None], margin: int
) -> None:
    dark, light, dark_rgb, light_rgb = colours
    spec = spec_of(CONTENT, format=format_, dark=dark, light=light, margin=margin)
    _, scale, canvas = PAINTED[format_](render(spec).artifact)
    expected = np.pad(make_symbol(spec).modules, margin)

    assert scale == 8
    assert np.array_equal(canvas == dark_rgb, expected == 1)
    assert np.array_equal(canvas == light_rgb, expected == 0)


@pytest.mark.parametrize("format_", ["pdf", "eps"])
@pytest.mark.parametrize(
    ("fields", "points"),
    [({}, 264), ({"scale": 1.0}, 33), ({"scale": 0.5}, 16.5), ({"scale": 1.1}, 36.3), ({"size": 200}, 200), ({"size": 300, "margin": 0}, 300), ({"size": 10_000}, 10_000)],
)
def test_scale_and_size_set_the_outer_size_in_points(spec_of: MakeSpec, format_: str, fields: dict[str, object], points: float) -> None:
    modules = 25 + 2 * int(str(fields.get("margin", 4)))
    side, scale, _ = PAINTED[format_](render(spec_of(CONTENT, format=format_, **fields)).artifact)

    assert side == points
    assert scale == pytest.approx(points / modules, abs=1e-9)


def test_the_bounding_box_of_an_eps_is_whole(spec_of: MakeSpec) -> None:
    lines = render(spec_of(CONTENT, format="eps", scale=1.1)).artifact.decode().splitlines()

    assert lines[2:4] == ["%%BoundingBox: 0 0 37 37", "%%HiResBoundingBox: 0 0 36.3 36.3"]


def test_the_bounding_box_of_an_eps_is_no_wider_for_a_double_that_is_just_above(spec_of: MakeSpec) -> None:
    assert 25 * 0.28 > 7

    lines = render(spec_of(CONTENT, format="eps", scale=0.28, margin=0)).artifact.decode().splitlines()

    assert lines[2:4] == ["%%BoundingBox: 0 0 7 7", "%%HiResBoundingBox: 0 0 7 7"]


def test_every_object_of_a_pdf_is_where_its_table_says(spec_of: MakeSpec) -> None:
    file = render(spec_of(CONTENT, format="pdf")).artifact
    table = int(file.splitlines()[-2])
    entries = file[table:].splitlines(keepends=True)[2:8]

    assert file[table:].startswith(b"xref\n0 6\n")
    assert [len(entry) for entry in entries] == [20] * 6  # ISO 32000-1, 7.5.4
    assert entries[0] == b"0000000000 65535 f \n"
    for number, entry in enumerate(entries[1:], 1):
        assert file[int(entry[:10]) :].startswith(b"%d 0 obj\n" % number)


@pytest.mark.parametrize("format_", ["pdf", "eps"])
def test_no_file_has_a_time(spec_of: MakeSpec, format_: str) -> None:
    with patch("time.strftime", side_effect=AssertionError("a clock was read")):
        file = render(spec_of(CONTENT, format=format_)).artifact

    assert b"Date" not in file


@pytest.mark.parametrize("fields", [{}, {"size": 200}, {"dark": "#ffffff", "light": "#000000"}, {"scale": 2.5, "dark": None, "light": "#ffffff", "margin": 2}])
def test_pdfium_shows_the_symbol(spec_of: MakeSpec, fields: dict[str, object]) -> None:
    rendered = render(spec_of(CONTENT, format="pdf", **fields))
    document = pypdfium2.PdfDocument(rendered.artifact)
    ground = (0, 0, 0, 255) if "dark" in fields else (255, 255, 255, 255)
    page = document[0].render(scale=3, grayscale=True, fill_color=ground).to_numpy()
    found = zxingcpp.read_barcode(np.ascontiguousarray(page.reshape(page.shape[0], -1)[:, : page.shape[1]]))

    assert len(document) == 1
    assert found is not None
    assert found.bytes == CONTENT.encode()


def shown_by(program: list[str], tmp_path: Path, name: str, file: bytes) -> NDArray[np.uint8]:
    """A file turned to grey pixels (PGM, P5) by another program; skips where the machine has none."""
    if shutil.which(program[0]) is None:
        pytest.skip(f"this machine has no {program[0]}")
    (tmp_path / name).write_bytes(file)
    subprocess.run(program, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    [image] = tmp_path.glob("*.pgm")
    header = re.match(rb"P5\s(?:#.*\n)?(\d+) (\d+)\s255\s", image.read_bytes())
    assert header is not None
    width, height = int(header[1]), int(header[2])
    return np.frombuffer(image.read_bytes()[header.end() :], np.uint8).reshape(height, width)


GHOSTSCRIPT = ["gs", "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dEPSCrop", "-r216", "-sDEVICE=pgmraw", "-sOutputFile=out.pgm"]


@pytest.mark.parametrize("fields", [{}, {"size": 200}, {"scale": 2.5, "light": None}])
@pytest.mark.parametrize("format_", ["pdf", "eps"])
def test_ghostscript_shows_the_symbol(spec_of: MakeSpec, tmp_path: Path, format_: str, fields: dict[str, object]) -> None:
    file = render(spec_of(CONTENT, format=format_, **fields)).artifact
    found = zxingcpp.read_barcode(shown_by([*GHOSTSCRIPT, f"symbol.{format_}"], tmp_path, f"symbol.{format_}", file))

    assert found is not None
    assert found.bytes == CONTENT.encode()


def test_ghostscript_has_every_module_of_an_eps(spec_of: MakeSpec, tmp_path: Path) -> None:
    spec = spec_of(CONTENT, format="eps", scale=1)
    pixels = shown_by([*GHOSTSCRIPT, "symbol.eps"], tmp_path, "symbol.eps", render(spec).artifact)

    assert np.array_equal(pixels[1::3, 1::3] < 128, np.pad(make_symbol(spec).modules, 4) == 1)


def test_poppler_shows_the_symbol_and_finds_no_fault(spec_of: MakeSpec, tmp_path: Path) -> None:
    file = render(spec_of(CONTENT, format="pdf", size=200)).artifact
    pixels = shown_by(["pdftoppm", "-gray", "-r", "216", "symbol.pdf", "out"], tmp_path, "symbol.pdf", file)
    found = zxingcpp.read_barcode(pixels)

    assert pixels.shape == (600, 600)
    assert found is not None
    assert found.bytes == CONTENT.encode()


@pytest.mark.parametrize("version", [1, 2, 7, 40])
@pytest.mark.parametrize("margin", [0, 1, 4])
def test_the_text_is_that_of_segnos_compact_terminal(tmp_path: Path, version: int, margin: int) -> None:
    made = segno.make("segno", version=version, error="l", mode="byte", micro=False, boost_error=False)
    modules = np.array([list(row) for row in made.matrix], np.uint8)
    with (tmp_path / "terminal.txt").open("w", encoding="utf-8", newline="") as terminal:
        made.terminal(terminal, border=margin, compact=True)

    assert write_txt(modules, margin, dark_is_ink=False) == (tmp_path / "terminal.txt").read_bytes()


INK = {" ": (0, 0), "▄": (0, 1), "▀": (1, 0), "█": (1, 1)}


@pytest.mark.parametrize(("dark", "light", "inked"), [("#000000", "#ffffff", 0), ("#ffffff", "#000000", 1)])
@pytest.mark.parametrize("margin", [0, 3])
def test_white_is_ink_and_black_is_blank(spec_of: MakeSpec, dark: str, light: str, inked: int, margin: int) -> None:
    spec = spec_of(CONTENT, format="txt", dark=dark, light=light, margin=margin)
    rendered = render(spec)
    lines = rendered.artifact.decode().splitlines()
    side = 25 + 2 * margin
    ink = np.array([[INK[character][half] for character in line] for line in lines for half in (0, 1)])

    assert rendered.artifact.endswith(b"\n")
    assert {len(line) for line in lines} == {side}
    assert len(lines) == (side + 1) // 2
    assert np.array_equal(ink[:side] == inked, np.pad(make_symbol(spec).modules, margin) == 1)
    assert not ink[side:].any()
    assert (rendered.verification.module_px, rendered.verification.quiet_zone_modules) == (1.0, margin)
    assert rendered.verification.inverted == bool(inked)


def test_a_text_that_is_too_wide_names_the_limit_and_the_widest_fits(spec_of: MakeSpec) -> None:
    with pytest.raises(RenderRefused, match="size_too_large") as refusal:
        render(spec_of(CONTENT, format="txt", margin=188))

    assert "401 characters wide; at most 400 characters are made; ask for a smaller margin" in str(refusal.value)
    assert len(render(spec_of(CONTENT, format="txt", margin=187)).artifact) < 256 * 1024
