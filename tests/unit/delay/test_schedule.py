"""Which parked records go when: in order, never early, all of them, with bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.delay.schedule import Parked, Place, Schedule

A, B = ("retry.1", 0), ("retry.2", 5)
MOST = 10**9


def parked(offset: int, due_ms: int, size: int = 10) -> Parked:
    return Parked(offset, due_ms, b"key", b"value", [], size)


def schedule(*records: tuple[Place, Parked], most_records: int = MOST, most_bytes: int = MOST) -> Schedule:
    made = Schedule(most_records, most_bytes)
    made.assign([A, B])
    for place, record in records:
        assert made.take(place, record)
    return made


def offsets(batch: list[tuple[Place, Parked]]) -> list[tuple[Place, int]]:
    return [(place, record.offset) for place, record in batch]


def test_a_record_is_due_at_its_time_and_not_a_millisecond_before() -> None:
    made = schedule((A, parked(7, 1_000)))
    assert made.due(999, MOST, MOST) == []
    assert made.earliest_ms() == 1_000
    assert offsets(made.due(1_000, MOST, MOST)) == [(A, 7)]


def test_a_record_that_is_not_due_holds_up_those_behind_it_and_no_other_partition() -> None:
    made = schedule((A, parked(0, 5_000)), (A, parked(1, 1_000)), (B, parked(0, 2_000)))
    assert offsets(made.due(4_000, MOST, MOST)) == [(B, 0)]
    assert offsets(made.due(5_000, MOST, MOST)) == [(B, 0), (A, 0), (A, 1)]


def test_the_hold_up_of_a_fifo_is_told_apart_from_lateness() -> None:
    first, behind, later = parked(0, 5_000), parked(1, 1_000), parked(2, 6_000)
    schedule((A, first), (A, behind), (A, later))
    assert [first.held_up_ms, behind.held_up_ms, later.held_up_ms] == [5_000, 5_000, 6_000]


def test_what_was_not_committed_is_due_again_and_what_was_is_gone() -> None:
    made = schedule((A, parked(0, 1)), (A, parked(1, 1)))
    first = made.due(1, 1, MOST)
    assert offsets(first) == [(A, 0)]
    assert made.due(1, 1, MOST) == first
    made.forwarded(first)
    assert offsets(made.due(1, 1, MOST)) == [(A, 1)]
    assert made.held == 1


def test_a_batch_that_is_not_what_stands_first_is_refused() -> None:
    made = schedule((A, parked(0, 1)), (A, parked(1, 1)))
    with pytest.raises(ValueError, match="offset 1 was not the first"):
        made.forwarded(made.due(1, MOST, MOST)[1:])


def test_a_batch_is_bounded_by_records_and_bytes_but_never_empty() -> None:
    made = schedule(*((A, parked(n, 1, size=100)) for n in range(10)))
    assert len(made.due(1, 3, MOST)) == 3
    assert len(made.due(1, MOST, 250)) == 2
    assert len(made.due(1, MOST, 1)) == 1


def test_a_record_that_comes_twice_is_taken_once_and_one_of_a_lost_partition_not_at_all() -> None:
    made = schedule((A, parked(4, 1)), (A, parked(6, 1)))
    assert not made.take(A, parked(6, 1))
    assert not made.take(A, parked(5, 1))
    assert not made.take(("retry.3", 0), parked(0, 1))
    assert offsets(made.due(1, MOST, MOST)) == [(A, 4), (A, 6)]


def test_a_new_assignment_forgets_everything_held() -> None:
    made = schedule((A, parked(4, 1)))
    made.assign([A])
    assert made.held == 0
    assert made.earliest_ms() is None
    assert made.take(A, parked(4, 1))


def test_a_full_partition_is_paused_once_and_resumed_when_half_empty() -> None:
    made = schedule(*((A, parked(n, 1)) for n in range(4)), most_records=8)
    assert made.to_pause() == [A]
    assert made.to_pause() == []
    assert made.paused() == [A]
    made.forwarded(made.due(1, 2, MOST))
    assert made.to_resume() == []
    made.forwarded(made.due(1, 1, MOST))
    assert made.to_resume() == [A]
    assert made.to_resume() == []
    assert made.paused() == []


def test_a_partition_with_one_huge_record_is_paused_until_that_has_gone() -> None:
    made = schedule((A, parked(0, 1, size=1_000)), most_bytes=100)
    assert made.to_pause() == [A]
    assert made.to_resume() == []
    made.forwarded(made.due(1, MOST, MOST))
    assert made.to_resume() == [A]


@given(
    st.lists(st.tuples(st.sampled_from([A, B]), st.integers(0, 100), st.integers(1, 50)), max_size=60),
    st.integers(1, 10), st.integers(1, 200), st.lists(st.booleans(), min_size=1, max_size=10),
)
def test_every_record_goes_once_in_order_and_never_early(
    records: list[tuple[Place, int, int]], most_records: int, most_bytes: int, commits: list[bool]
) -> None:
    made = schedule(*((place, parked(n, due, size)) for n, (place, due, size) in enumerate(records)))
    gone: list[tuple[Place, int]] = []
    turn = 0
    for now in range(101):
        while batch := made.due(now, most_records, most_bytes):
            assert len(batch) <= most_records
            assert len(batch) == 1 or sum(record.size for _, record in batch) <= most_bytes
            assert all(record.held_up_ms <= now for _, record in batch)
            turn += 1
            if commits[turn % len(commits)] or turn % 7 == 0:
                made.forwarded(batch)
                gone += offsets(batch)
    assert made.held == 0
    for place in (A, B):
        assert [offset for where, offset in gone if where == place] == [n for n, (where, _, _) in enumerate(records) if where == place]


@given(st.lists(st.tuples(st.sampled_from([A, B]), st.integers(1, 50)), max_size=100), st.integers(2, 20), st.integers(10, 300))
def test_what_is_held_is_bounded_when_paused_partitions_are_not_fetched(records: list[tuple[Place, int]], most_records: int, most_bytes: int) -> None:
    made = schedule(most_records=most_records, most_bytes=most_bytes)
    for n, (place, size) in enumerate(records):
        if place not in made.paused():
            made.take(place, parked(n, 1, size))
            made.to_pause()
    held = made.due(1, MOST, MOST)
    assert len(held) <= most_records + 1
    assert sum(record.size for _, record in held) <= most_bytes + 2 * 50
