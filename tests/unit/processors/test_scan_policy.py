"""What may keep a reader from a symbol: named in its facts, and refused where the policy says so."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from processors import verify as verification
from processors.errors import RenderRefused
from processors.render import render
from processors.verify import ScanPolicy, explain
from processors.verify.read_back import read_back
from processors.verify.scan_policy import REFUSABLE, WARNINGS
from tests.unit.processors.conftest import MakeSpec

CASES = [
    ({}, ()),
    ({"dark": "#ffffff", "light": "#000000"}, ("inverted",)),
    ({"dark": None, "light": "#ffffff"}, ()),
    ({"light": None}, ()),
    ({"dark": "#959595"}, ("low_contrast",)),  # 2.996 to 1
    ({"dark": "#949494"}, ()),  # 3.034 to 1
    ({"margin": 3}, ("quiet_zone",)),
    ({"margin": 0, "size": 200}, ("quiet_zone",)),
    ({"margin": 0, "size": 320}, ("quiet_zone",)),
    ({"margin": 3, "size": 61}, ("small_modules",)),  # the pixels left over widen the border to 18 modules
    ({"scale": 1}, ("small_modules",)),
    ({"scale": 2}, ()),
    ({"scale": 1, "format": "svg"}, ()),  # a drawing has no pixels
    ({"size": 65}, ("small_modules",)),
    ({"size": 66}, ()),
    ({"content": "Grüße"}, ("ambiguous_text",)),
    (
        {"content": "Grüße", "dark": "#ffffff", "light": "#bbbbbb", "margin": 1, "scale": 1},
        ("inverted", "low_contrast", "quiet_zone", "small_modules", "ambiguous_text"),
    ),
]


@pytest.mark.parametrize(("fields", "warnings"), CASES, ids=str)
def test_a_symbol_is_published_with_its_warnings(
    spec_of: MakeSpec, fields: dict[str, object], warnings: tuple[str, ...]
) -> None:
    assert render(spec_of(**fields)).verification.warnings == warnings


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"dark": "#ffffff", "light": "#000000"},
            "inverted: the modules are lighter than their ground, which some readers refuse; swap dark and light (contrast ratio 21.00 to 1 either way)",
        ),
        (
            {"dark": "#aaaaaa"},
            "low_contrast: the contrast ratio is 2.32 to 1, less than 3 to 1; choose a darker dark or a lighter light",
        ),
        # 2.996 to 1, which is not 3.00.
        ({"dark": "#959595"}, "low_contrast: the contrast ratio is 2.99 to 1, less than 3 to 1; choose a darker dark or a lighter light"),
        ({"margin": 0, "size": 200}, "quiet_zone: the quiet zone is 0 of 4 modules wide; ask for a margin of 4"),
        ({"scale": 1}, "small_modules: a module is 1 px wide, less than 2 px; ask for a larger scale or size"),
        (
            {"scale": 1, "margin": 2},
            "quiet_zone: the quiet zone is 2 of 4 modules wide; ask for a margin of 4; small_modules: a module is 1 px wide, less than 2 px; ask for a larger scale or size",
        ),
    ],
)
def test_the_strict_policy_refuses_with_each_reason_its_figure_and_what_to_change(
    spec_of: MakeSpec, fields: dict[str, object], message: str
) -> None:
    with pytest.raises(RenderRefused) as refusal:
        render(spec_of(**fields), ScanPolicy.REFUSE)

    assert (refusal.value.code, refusal.value.message) == ("unscannable", message)


def test_what_the_strict_policy_asks_for_is_then_rendered(spec_of: MakeSpec) -> None:
    assert render(spec_of(scale=2, margin=4), ScanPolicy.REFUSE) == render(spec_of(scale=2, margin=4))


def test_a_text_that_some_readers_take_for_another_is_never_refused(spec_of: MakeSpec) -> None:
    facts = render(spec_of("Müller"), ScanPolicy.REFUSE).verification

    assert facts.warnings == ("ambiguous_text",)
    assert frozenset(WARNINGS) - {"ambiguous_text"} == REFUSABLE


@pytest.mark.parametrize("policy", list(ScanPolicy))
def test_colours_that_are_the_same_are_refused_by_every_policy(spec_of: MakeSpec, policy: ScanPolicy) -> None:
    with pytest.raises(RenderRefused) as refusal:
        render(spec_of(dark="#fff"), policy)

    assert refusal.value.code == "unscannable"


def test_every_warning_is_explained_in_one_line(spec_of: MakeSpec) -> None:
    facts = render(spec_of("ä", dark="#fff", light="#bbb", margin=1, scale=1)).verification

    assert facts.warnings == WARNINGS
    for name in WARNINGS:
        told = explain(name, facts)
        assert told
        assert "\n" not in told
        assert not told.endswith(".")


def test_a_symbol_that_is_read_is_decoded_once(spec_of: MakeSpec) -> None:
    with patch.object(verification, "read_back", side_effect=read_back) as decoder:
        render(spec_of("Grüße", dark="#123456"))

    assert decoder.call_count == 1
