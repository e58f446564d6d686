from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from streams.delay.lateness import Lateness


def test_quantiles_are_the_counted_values_rounded_up_to_two_digits() -> None:
    lateness = Lateness()
    for value in [*range(1, 100), 12_345]:
        lateness.add(value)
    assert lateness.count == 100
    assert lateness.summary() == {"lateness_p50_ms": 50, "lateness_p99_ms": 99, "lateness_max_ms": 13_000}


def test_without_records_there_is_no_lateness_and_a_clock_set_back_is_none() -> None:
    lateness = Lateness()
    assert lateness.summary() == {"lateness_p50_ms": 0, "lateness_p99_ms": 0, "lateness_max_ms": 0}
    lateness.add(-5)
    assert lateness.quantile(1.0) == 0


@given(st.lists(st.integers(0, 10**9), min_size=1), st.floats(0.01, 1.0))
def test_a_quantile_is_never_too_low_and_at_most_a_tenth_too_high(values: list[int], part: float) -> None:
    lateness = Lateness()
    for value in values:
        lateness.add(value)
    exact = sorted(values)[math.ceil(part * len(values)) - 1]
    assert exact <= lateness.quantile(part) <= exact * 1.1 + 1
