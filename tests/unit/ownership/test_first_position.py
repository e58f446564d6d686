"""Where deciding begins, and when lost state forbids it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from streams.ownership.broker_facts import SourceLog
from streams.ownership.errors import StateUnusable
from streams.ownership.owners import first_position
from streams.ownership.ownership import Claim

CLAIM = Claim("render", "requested", "uuid", "changelog", 2, 1)


def owner(position: int | None) -> Any:
    return SimpleNamespace(claim=CLAIM, group="app", position=position or 0, has_position_row=position is not None)


@pytest.mark.parametrize(
    ("position", "start", "group_offset", "expected"),
    [
        (None, 0, None, 0),  # nothing was ever done
        (None, 40, None, 40),  # retention has run before the first start
        (None, 40, 40, 40),  # what the group has handled is gone from the log: nothing can be doubled
        (70, 0, None, 70),
        (70, 0, 60, 70),  # the group's offset lags, always
        (70, 0, 70, 70),
        (70, 90, 80, 90),  # the tail of the changelog is lost, and with it requests that retention has removed too
        (70, 90, 70, 90),  # retention was quicker than we were
    ],
)
def test_deciding_begins_at_the_position_or_the_logs_start(position: int | None, start: int, group_offset: int | None, expected: int) -> None:
    assert first_position(owner(position), SourceLog(start, 1_000, group_offset)) == expected


def test_handled_requests_without_a_position_refuse_the_start() -> None:
    with pytest.raises(StateUnusable, match=r"requested-2: group app has committed offset 60, but changelog changelog holds no position"):
        first_position(owner(None), SourceLog(0, 1_000, 60))


def test_a_changelog_that_has_lost_its_tail_refuses_the_start() -> None:
    with pytest.raises(StateUnusable, match=r"ends at position 50: its tail is lost"):
        first_position(owner(50), SourceLog(0, 1_000, 60))
