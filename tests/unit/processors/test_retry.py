"""The policy of retries: how often, how long, and spread over how much time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.retry import Parking, RetryPolicy, after_failure, waiting_ms

POLICY = RetryPolicy((1_000, 10_000, 60_000, 600_000))
NOW = 1_700_000_000_000
policies = st.lists(st.integers(0, 86_400_000), min_size=1, max_size=4).map(lambda delays: RetryPolicy(tuple(delays)))
draws = st.integers(0, 2**64)


@pytest.mark.parametrize(
    ("attempt", "draw", "expected"),
    [
        (1, 0, Parking(1, 0, NOW + 1_000)),
        (2, 8, Parking(2, 0, NOW + 10_000)),
        (3, 7, Parking(3, 7, NOW + 72_000)),
        (4, 3, Parking(4, 3, NOW + 600_000 + 51_428)),
        (5, 0, None),
        (6, 0, None),
        (0, 0, Parking(1, 0, NOW + 1_000)),
    ],
)
def test_each_attempt_waits_on_the_topic_of_its_number_until_they_are_used_up(attempt: int, draw: int, expected: Parking | None) -> None:
    assert after_failure(attempt, NOW, POLICY, 8, draw) == expected


@given(policies, st.integers(1, 64), draws)
def test_a_request_is_tried_once_more_than_there_are_delays(policy: RetryPolicy, partitions: int, draw: int) -> None:
    attempt, topics = 1, []
    while (parking := after_failure(attempt, NOW, policy, partitions, draw)) is not None:
        topics.append(parking.topic_number)
        attempt += 1
    assert attempt == policy.attempts == len(policy.delays_ms) + 1
    assert topics == list(range(1, policy.attempts))


@given(policies, st.integers(1, 64), draws, st.data())
def test_a_wait_is_the_delay_and_at_most_a_fifth_more(policy: RetryPolicy, partitions: int, draw: int, data: st.DataObject) -> None:
    attempt = data.draw(st.integers(1, len(policy.delays_ms)))
    parking = after_failure(attempt, NOW, policy, partitions, draw)
    assert parking is not None
    delay = policy.delays_ms[attempt - 1]
    assert delay <= parking.due_ms - NOW <= delay + delay // 5
    assert 0 <= parking.partition < partitions


@given(st.integers(0, 86_400_000), st.integers(2, 64))
def test_the_first_partition_waits_the_delay_and_the_last_a_fifth_more(delay: int, partitions: int) -> None:
    waits = [waiting_ms(delay, partition, partitions) for partition in range(partitions)]
    assert waits[0] == delay
    assert waits[-1] == delay + delay // 5
    assert waits == sorted(waits)


@given(policies, st.integers(1, 64), st.lists(st.tuples(st.integers(0, 10_000), draws), max_size=50))
def test_due_times_rise_by_themselves_within_each_partition(policy: RetryPolicy, partitions: int, failures: list[tuple[int, int]]) -> None:
    last: dict[int, int] = {}
    now = NOW
    for passed, draw in failures:
        now += passed
        parking = after_failure(1, now, policy, partitions, draw)
        assert parking is not None
        assert parking.due_ms >= last.get(parking.partition, 0)
        last[parking.partition] = parking.due_ms


def test_a_burst_comes_back_spread_over_a_fifth_of_the_delay() -> None:
    parkings = [after_failure(3, NOW, POLICY, 8, draw * 2_654_435_761 % 2**32) for draw in range(2_000)]
    due = [parking.due_ms - NOW for parking in parkings if parking is not None]
    bins = [sum(60_000 + 1_300 * n <= wait < 60_000 + 1_300 * (n + 1) for wait in due) for n in range(10)]
    assert sum(bins) == 2_000
    assert max(bins) <= 3 * 200


def test_with_one_partition_there_is_no_jitter() -> None:
    assert {waiting_ms(60_000, 0, 1)} == {60_000}
