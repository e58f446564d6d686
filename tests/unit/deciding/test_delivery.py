"""Placement of a delivered event against the position."""

from __future__ import annotations

import pytest

from streams.deciding.delivery import Placement, placement


@pytest.mark.parametrize(
    ("offset", "continues", "expected"),
    [
        (10, 10, Placement.NEXT),
        (12, 10, Placement.NEXT),  # a commit marker and an aborted record lie between
        (12, 9, Placement.NEXT),  # the chain began before the position
        (9, 9, Placement.REDELIVERED),
        (9, 12, Placement.REDELIVERED),
        (12, 12, Placement.SKIPPED),  # 10 and 11 were never delivered
        (10, None, Placement.SKIPPED),  # nothing is known of what was before
    ],
)
def test_an_event_is_decided_only_if_it_continues_at_or_below_the_position(offset: int, continues: int | None, expected: Placement) -> None:
    assert placement(offset, continues, position=10) is expected
