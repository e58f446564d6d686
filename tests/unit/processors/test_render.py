from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from processors import render as rendering
from processors.errors import RenderRefused
from processors.images import drawing, svg
from processors.profile import DEFAULT_PROFILE
from processors.render import render
from processors.symbol import Symbol, make_symbol
from processors.verify import DECODER, contrast_ratio
from tests.unit.processors.conftest import MakeSpec


def refusal_of(spec_of: MakeSpec, content: object = "https://example.com", **fields: object) -> RenderRefused:
    with pytest.raises(RenderRefused) as refusal:
        render(spec_of(content, **fields))
    return refusal.value


def test_a_rendered_request_comes_with_its_facts(spec_of: MakeSpec, repository: Path) -> None:
    package = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    rendered = render(spec_of())
    facts = rendered.verification

    assert (rendered.media_type, rendered.version, rendered.error_correction) == ("image/png", 2, "q")
    assert rendered.mask == 6
    assert rendered.renderer == f"{package['name']}/{package['version']}"
    assert (facts.contrast_ratio, facts.quiet_zone_modules, facts.module_px, facts.inverted) == (21.0, 4.0, 8.0, False)


def test_the_decoder_is_named_by_its_installed_version() -> None:
    assert f"zxing-cpp/{version('zxing-cpp')}" == DECODER


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"dark": "#123456"}, "leave dark and light out, or ask for dark #ffffff on light #000000, not #123456 on #ffffff"),
        ({"light": None}, "not #000000 on transparent"),
        ({"scale": 4}, "leave scale and size out"),
        ({"size": 300}, "leave scale and size out"),
    ],
)
def test_a_format_that_cannot_do_what_an_option_asks_for_says_so(
    spec_of: MakeSpec, fields: dict[str, object], says: str
) -> None:
    refusal = refusal_of(spec_of, format="txt", **fields)

    assert refusal.code == "format_unavailable"
    assert says in refusal.message


@pytest.mark.parametrize(
    ("format_", "media_type"),
    [
        ("png", "image/png"),
        ("svg", "image/svg+xml"),
        ("pdf", "application/pdf"),
        ("eps", "application/postscript"),
        ("txt", "text/plain; charset=utf-8"),
    ],
)
def test_each_format_has_its_media_type(spec_of: MakeSpec, format_: str, media_type: str) -> None:
    assert render(spec_of(format=format_)).media_type == media_type


@pytest.mark.parametrize("format_", ["png", "svg", "pdf", "eps"])
@pytest.mark.parametrize(
    ("dark", "light", "says"),
    [
        ("#fff", "#ffffff", "the same colour, #ffffff"),
        (None, None, "both transparent"),
        ("#ffffff", None, "a transparent light counts as white"),
        (None, "#000", "a transparent dark as black"),
        ("#f0f0f0", "#ffffff", "too close in brightness to be read (contrast ratio 1.14 to 1)"),
        ("#ff0000", "#4c4c4c", "too close in brightness"),
    ],
)
def test_colours_that_cannot_be_told_apart_are_refused(
    spec_of: MakeSpec, format_: str, dark: str | None, light: str | None, says: str
) -> None:
    refusal = refusal_of(spec_of, format=format_, dark=dark, light=light)

    assert refusal.code == "unscannable"
    assert says in refusal.message


@pytest.mark.parametrize(
    ("dark", "light", "ratio", "inverted"),
    [
        ("#ffffff", "#000000", 21.0, True),
        ("#777777", "#ffffff", 4.4781, False),
        ("#123456", None, 12.7185, False),
        (None, "#ffffff", 21.0, False),
        ("#ffff00", "#0000ff", 8.0024, True),
    ],
)
def test_contrast_and_inversion_are_facts_of_the_colours(
    spec_of: MakeSpec, dark: str | None, light: str | None, ratio: float, inverted: bool
) -> None:
    facts = render(spec_of(dark=dark, light=light)).verification

    assert (round(facts.contrast_ratio, 2), facts.inverted) == (round(ratio, 2), inverted)


def test_the_contrast_ratio_is_that_of_wcag() -> None:
    assert contrast_ratio("#000000", "#ffffff") == contrast_ratio("#ffffff", "#000000") == 21.0
    assert contrast_ratio("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("format_", ["png", "svg", "pdf", "eps"])
def test_a_size_below_one_pixel_a_module_names_the_least(spec_of: MakeSpec, format_: str) -> None:
    refusal = refusal_of(spec_of, format=format_, size=32)

    assert refusal.code == "size_too_small"
    assert "a size of at least 33 px" in refusal.message
    assert render(spec_of(format=format_, size=33)).verification.module_px == 1.0


@pytest.mark.parametrize("fields", [{"scale": 304}, {"size": 10_001}, {"margin": 700}])
def test_an_image_that_is_too_wide_names_the_limit(spec_of: MakeSpec, fields: dict[str, object]) -> None:
    refusal = refusal_of(spec_of, **fields)

    assert refusal.code == "size_too_large"
    assert f"at most {DEFAULT_PROFILE.max_side_px:,} px" in refusal.message


def test_a_file_that_is_too_large_is_refused(spec_of: MakeSpec) -> None:
    with patch.object(svg, "write_svg", return_value=bytes(256 * 1024 + 1)):
        refusal = refusal_of(spec_of, format="svg")

    assert refusal.code == "output_too_large"
    assert refusal.message == "the svg has more than the 262,144 bytes that are carried; ask for a smaller margin"


@pytest.mark.parametrize("format_", ["svg", "pdf", "eps"])
def test_a_margin_of_more_rows_than_a_file_may_have_is_refused_undrawn(spec_of: MakeSpec, format_: str) -> None:
    with patch.object(drawing, "_runs", side_effect=AssertionError("drawn")):
        refusal = refusal_of(spec_of, format=format_, dark=None, scale=0.01, margin=499_900)

    assert refusal.code == "output_too_large"
    assert refusal.message == f"the {format_} has more than the 262,144 bytes that are carried; ask for a smaller margin"


def test_a_margin_that_is_one_rectangle_may_be_wide(spec_of: MakeSpec) -> None:
    assert render(spec_of(format="svg", scale=0.01, margin=499_900)).verification.quiet_zone_modules == 499_900


def test_a_symbol_that_says_something_else_is_never_returned(spec_of: MakeSpec) -> None:
    other = make_symbol(spec_of("https://example.org"))
    with patch.object(rendering, "make_symbol", return_value=other):
        refusal = refusal_of(spec_of)

    assert (refusal.code, refusal.message) == ("verification_failed", "the symbol reads back to 19 other bytes")


def test_a_symbol_that_says_nothing_is_never_returned(spec_of: MakeSpec) -> None:
    blank = Symbol(np.ones((21, 21), np.uint8), 1, "m", 0)
    with patch.object(rendering, "make_symbol", return_value=blank):
        refusal = refusal_of(spec_of)

    assert (refusal.code, refusal.message) == ("verification_failed", "the symbol reads back to nothing")


def test_an_unknown_error_of_the_renderer_keeps_its_cause(spec_of: MakeSpec) -> None:
    cause = ZeroDivisionError("secret content")
    with patch.object(rendering, "make_symbol", side_effect=cause):
        refusal = refusal_of(spec_of)

    assert refusal.code == "render_failed"
    assert refusal.__cause__ is cause
    assert "secret" not in refusal.message
