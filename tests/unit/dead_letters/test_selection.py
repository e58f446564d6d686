"""Which letters options mean."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest

from streams.dead_letters.dispositions import Settled, State
from streams.dead_letters.pace import Pace
from streams.dead_letters.reading import Span
from streams.dead_letters.received import ReceivedLetter
from streams.dead_letters.selection import Selection, instant_of

NOW = 1_764_400_000_123


def letter(reason: str = "wrong_key", tenant: str | None = "acme", failed_at: int = NOW) -> ReceivedLetter:
    facts = {"reason": reason, "last-failure": str(failed_at), **({} if tenant is None else {"tenant": tenant})}
    return ReceivedLetter("qr.render.dlq", 0, 1, NOW, b"k", b"v", (), facts)


@pytest.mark.parametrize(("text", "ago_s"), [("90s", 90), ("30m", 1_800), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600), (" 1 H ", 3_600), ("0s", 0)])
def test_a_duration_is_so_long_ago(text: str, ago_s: int) -> None:
    assert instant_of(text, NOW) == NOW - ago_s * 1000


@pytest.mark.parametrize(
    ("text", "instant"),
    [("2025-11-29T07:06:40Z", 1_764_400_000_000), ("2025-11-29T07:06:40.123+00:00", NOW), ("2025-11-29T09:06:40+02:00", 1_764_400_000_000)],
)
def test_an_instant_is_that_instant(text: str, instant: int) -> None:
    assert instant_of(text, NOW) == instant


def test_an_instant_without_offset_is_local() -> None:
    local = datetime.fromtimestamp(1_764_400_000, tz=UTC).astimezone()
    assert instant_of(local.replace(tzinfo=None).isoformat(), NOW) == 1_764_400_000_000


@pytest.mark.parametrize("text", ["", "yesterday", "24", "h", "-1h", "1y", "2025-13-01", "99999-01-01", "999999999w", "\x1b[2J"])
def test_what_is_no_time_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="is no time; write how long ago") as refused:
        instant_of(text, NOW)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("selection", "meant"),
    [
        (Selection(), True),
        (Selection(reasons=frozenset({"wrong_key", "missing_key"})), True),
        (Selection(reasons=frozenset({"missing_key"})), False),
        (Selection(tenants=frozenset({"acme"})), True),
        (Selection(tenants=frozenset({"default"})), False),
        (Selection(since=NOW, until=NOW + 1), True),
        (Selection(since=NOW + 1), False),
        (Selection(until=NOW), False),
        (Selection(frozenset({"wrong_key"}), frozenset({"default"})), False),
    ],
)
def test_every_part_that_is_given_must_hold(selection: Selection, meant: bool) -> None:
    assert selection.means(letter()) is meant


def test_a_letter_without_tenant_is_of_no_tenant() -> None:
    assert not Selection(tenants=frozenset({"default"})).means(letter(tenant=None))
    assert Selection().means(letter(tenant=None))


def test_settled_letters_are_known_by_their_offset_and_deleted_ones_forgotten() -> None:
    settled = Settled(Span(10, 13))
    for offset, state in [(9, State.replayed), (10, State.replayed), (12, State.discarded), (13, State.replayed), (10**15, State.replayed)]:
        settled.set(offset, state)
    assert [settled.of(offset) for offset in (9, 10, 11, 12, 13)] == [State.open, State.replayed, State.open, State.discarded, State.open]


class Clock:
    """Time that passes in naps alone."""

    def __init__(self) -> None:
        self.now = 100.0

    def nap(self, seconds: float) -> None:
        self.now += seconds


def test_the_pace_holds_the_rate_and_begins_at_once() -> None:
    clock = Clock()
    pace = Pace(20, lambda: clock.now, clock.nap)
    began = []
    for _ in range(4):
        pace.wait(10, lambda: False)
        began.append(round(clock.now - 100, 6))
    assert began == [0, 0.5, 1.0, 1.5]


def test_the_pace_does_not_catch_up() -> None:
    clock = Clock()
    pace = Pace(10, lambda: clock.now, clock.nap)
    pace.wait(10, lambda: False)
    clock.now += 30
    pace.wait(10, lambda: False)
    assert clock.now == 130
    pace.wait(10, lambda: False)
    assert round(clock.now, 6) == 131


def test_the_pace_ends_when_it_is_told_to() -> None:
    clock = Clock()
    pace = Pace(0.001, lambda: clock.now, clock.nap)
    pace.wait(1, lambda: False)
    asked = itertools.count()
    pace.wait(1, lambda: next(asked) == 3)
    assert clock.now < 102


def test_no_rate_is_no_pause() -> None:
    Pace(None, lambda: 0.0, lambda _: pytest.fail("it naps")).wait(1_000_000, lambda: False)
