"""examples/requests.jsonl has what a newcomer is told it has."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from processors.canonical import identify
from processors.errors import RenderError
from processors.jsonl import parse_request
from processors.render import render
from processors.spec import RenderSpec, validate
from processors.symbol import CAPACITY, mode_of
from schemas.events import RenderRequested

NOW = 1_767_225_600_000  # 2026-01-01


@pytest.fixture(scope="module")
def expected(inputs: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((inputs / "example_outcomes.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def requests(repository: Path) -> list[RenderRequested]:
    lines = (repository / "examples" / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    return [parse_request(line, request_id=f"line-{number}", requested_at=NOW) for number, line in enumerate(lines, 1)]


def failure_of(request: RenderRequested) -> str | None:
    """The code that the request fails with; rendered only where its fields do not settle it."""
    try:
        spec = validate(request)
        if request.deadline is not None and request.deadline < NOW:
            return "deadline_exceeded"
        if _is_plain(spec):
            return None
        render(spec)
    except RenderError as error:
        return error.code
    return None


def _is_plain(spec: RenderSpec) -> bool:
    """In the default colours and scale, any content that fits is rendered: other tests show it."""
    plain = (spec.format, spec.scale, spec.margin, spec.dark, spec.light) == ("png", 8, 4, "#000000", "#ffffff")
    return plain and len(spec.content) <= CAPACITY[mode_of(spec.content)][spec.error_correction]


def test_there_are_as_many_as_promised(requests: list[RenderRequested], expected: dict[str, Any]) -> None:
    names = Counter(request.request_id for request in requests)

    assert len(requests) == expected["requests"] >= 240
    assert len(requests) - len(names) == expected["duplicates"] == 8


def test_exactly_the_named_ones_fail_with_their_codes(requests: list[RenderRequested], expected: dict[str, Any]) -> None:
    failing = {r.request_id: code for r in requests if (code := failure_of(r)) is not None}

    assert failing == expected["failing"]
    assert set(failing.values()) == {
        "content_empty",
        "content_too_long",
        "deadline_exceeded",
        "format_unavailable",
        "invalid_content",
        "invalid_option",
        "size_too_large",
        "size_too_small",
        "unscannable",
    }


def test_a_repeated_request_id_is_the_same_request(requests: list[RenderRequested]) -> None:
    by_name: dict[str, set[RenderRequested]] = {}
    for request in requests:
        by_name.setdefault(request.request_id, set()).add(request)

    assert [name for name, variants in by_name.items() if len(variants) > 1] == []


def test_each_distinct_request_is_rendered_once(requests: list[RenderRequested], expected: dict[str, Any]) -> None:
    sound = [r for r in requests if r.request_id not in expected["failing"]]

    assert len({identify(r)[1] for r in sound}) == expected["rendered"]


def test_the_same_menu_is_asked_for_many_times_and_in_other_words(requests: list[RenderRequested]) -> None:
    hashes = {identify(r)[1] for r in requests if r.request_id.startswith(("again-", "words-"))}
    repeated = [r for r in requests if r.request_id.startswith(("again-", "words-"))]

    assert len(hashes) == 1
    assert len(repeated) >= 28
