"""Stopping and rebalancing in the middle of a large batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.publisher import contents
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]

SLOW = ("--slow-render", "0.05")
"""Seconds; a batch of 500 takes 25 of them, far beyond the session timeout."""


def test_a_stop_waits_for_one_transaction_and_not_for_all_that_was_taken(new_stream: NewStream) -> None:
    stream = new_stream()
    stream.publisher.publish(contents(2_000, 2_000))
    worker = stream.start(*SLOW)
    stream.wait(lambda: stream.trace.events("published"), "a transaction has been committed", DEADLINE_S, worker)
    assert worker.terminate() == 0
    assert stream.trace.offsets("abandoned")
    assert 0 < len(stream.outcomes.to_end()) < 1_000


@pytest.mark.long
def test_a_rebalance_does_not_wait_for_all_that_was_taken(new_stream: NewStream) -> None:
    stream = new_stream()
    stream.publisher.publish(contents(2_000, 200))
    first = stream.start(*SLOW, name="first")
    stream.wait(lambda: stream.trace.events("published"), "a transaction has been committed", DEADLINE_S, first)
    second = stream.start(name="second")
    stream.wait_open(second, PARTITIONS // 2)
    generations = {line["generation"] for line in stream.trace.events("opened")}
    assert len(generations) == 2
    stream.wait_all(first, second)
    stream.exactly_once(renders=200)
