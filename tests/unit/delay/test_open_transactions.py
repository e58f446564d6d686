"""A last stable offset that stands still below the end is a transaction that stays open."""

from __future__ import annotations

from streams.delay.open_transactions import LONG_SECONDS, Ends, OpenTransaction, StandingEnds


def test_a_transaction_is_told_of_once_it_has_stood_longer_than_a_commit_can_take() -> None:
    ends = StandingEnds()
    assert ends.look({0: Ends(10, 15), 1: Ends(7, 7)}, 100.0) == []
    assert ends.look({0: Ends(10, 15), 1: Ends(7, 7)}, 100.0 + LONG_SECONDS) == []
    assert ends.look({0: Ends(10, 18), 1: Ends(7, 7)}, 106.0) == [OpenTransaction(0, 6.0, 10, 8)]


def test_a_partition_whose_stable_end_moves_is_busy_and_not_stuck() -> None:
    ends = StandingEnds()
    assert all(ends.look({0: Ends(n, n + 5)}, float(n)) == [] for n in range(0, 100, 2))


def test_the_clock_begins_anew_with_the_next_transaction() -> None:
    ends = StandingEnds()
    ends.look({0: Ends(10, 15)}, 0.0)
    assert len(ends.look({0: Ends(10, 15)}, 20.0)) == 1
    assert ends.look({0: Ends(15, 15)}, 21.0) == []
    assert ends.look({0: Ends(15, 16)}, 22.0) == []
    assert ends.look({0: Ends(15, 16)}, 26.0) == []
    assert ends.look({0: Ends(15, 16)}, 28.0) == [OpenTransaction(0, 6.0, 15, 1)]
