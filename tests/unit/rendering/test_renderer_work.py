"""Which specs are sent to the child, after what has happened to them."""

from __future__ import annotations

import pytest

from processors.errors import RenderRefused
from processors.spec import RenderSpec
from streams.rendering.renderer import _Work

SPECS = [RenderSpec(b"%d" % number, "png", "m", True, 8, None, 4, "#000000", "#ffffff", "qr-1") for number in range(4)]  # a spec's field
RESULT = RenderRefused("unscannable")


def asked(work: _Work) -> list[tuple[int, int]]:
    return [(SPECS.index(spec), attempt) for spec, attempt in work.asked()]


def test_a_spec_that_something_died_of_is_sent_alone_and_as_the_next_attempt() -> None:
    work = _Work(SPECS, None, None)
    assert asked(work) == [(0, 1), (1, 1), (2, 1), (3, 1)]
    work.add(RESULT)
    work.died()
    assert asked(work) == [(1, 2)]
    work.add(RESULT)
    assert asked(work) == [(2, 1), (3, 1)]


def test_a_spec_that_comes_with_deaths_waits_until_it_can_be_alone() -> None:
    work = _Work(SPECS, [0, 0, 2, 0], None)
    assert asked(work) == [(0, 1), (1, 1)]
    work.add(RESULT)
    work.add(RESULT)
    assert asked(work) == [(2, 3)]


def test_nothing_is_sent_once_there_is_enough() -> None:
    work = _Work(SPECS, None, lambda _: False)
    sending = work.asked()
    next(sending)
    work.add(RESULT)
    assert list(sending) == []
    assert work.finished


def test_a_count_of_deaths_for_each_spec_or_none() -> None:
    with pytest.raises(ValueError, match="4 specs with 1 counts of deaths"):
        _Work(SPECS, [1], None)
