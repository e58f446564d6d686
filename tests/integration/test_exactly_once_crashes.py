"""A crash after each step of a micro-batch's commit, and with a transaction begun; docs/ownership.md has the table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.faulty_worker import CRASHED
from tests.support.publisher import contents
from tests.support.sizes import Size, both_sizes
from tests.support.stream_run import DEADLINE_S, StreamRun, Worker

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]

FIFTH = "5"
"""Four partitions: the fifth batch is some partition's second, so a batch has been committed before."""

# Neighbours of a step that `make test` has, told apart by nothing that the next owner could see.
LONG_1, LONG_3, LONG_6 = (pytest.param(step, marks=pytest.mark.long) for step in ("1", "3", "6"))


def crash_and_restart(new_stream: NewStream, step: str, size: Size) -> tuple[StreamRun, Worker, Worker]:
    """Crash one worker, go on with the next on the same data folder; no group offset is committed meanwhile."""
    stream = new_stream(QR_BATCH_RECORDS=str(size.batch), QR_COMMIT_INTERVAL="60")
    stream.publisher.publish(contents(size.requests, size.distinct))
    crashed = stream.start("--crash-after", step, "--nth", FIFTH)
    assert crashed.wait(DEADLINE_S) == CRASHED
    assert [line["step"] for line in stream.trace.events("crashed")] == [step]
    assert 0 < len(stream.outcomes.to_end()) < size.requests, stream.rerun()
    following = stream.start()
    stream.wait_all(following)
    return stream, crashed, following


@both_sizes
@pytest.mark.parametrize("step", [LONG_1, "2", LONG_3])
def test_a_crash_before_the_transaction_leaves_nothing_and_the_same_offsets_are_taken_again(new_stream: NewStream, step: str, size: Size) -> None:
    stream, crashed, following = crash_and_restart(new_stream, step, size)
    in_flight = stream.in_flight(crashed)
    assert in_flight
    assert in_flight <= stream.trace.offsets("taken", pid=following.pid)
    verdict = stream.exactly_once(renders=size.distinct)
    assert size.distinct <= verdict.encoder_calls <= size.distinct + len(in_flight)


@both_sizes
def test_a_crash_with_a_transaction_begun_leaves_only_aborted_records(new_stream: NewStream, size: Size) -> None:
    stream, crashed, following = crash_and_restart(new_stream, "4-begun", size)
    in_flight = stream.in_flight(crashed)
    assert in_flight <= stream.trace.offsets("taken", pid=following.pid)
    verdict = stream.exactly_once(renders=size.distinct)
    assert verdict.aborted > 0
    assert size.distinct <= verdict.encoder_calls <= size.distinct + len(in_flight)


@both_sizes
@pytest.mark.parametrize("step", ["4", "5", LONG_6])
def test_after_the_commit_a_crash_redelivers_below_the_position_and_answers_nothing_twice(new_stream: NewStream, step: str, size: Size) -> None:
    stream, crashed, following = crash_and_restart(new_stream, step, size)
    redelivered = stream.trace.offsets("redelivered", pid=following.pid)
    committed_before = stream.trace.offsets("taken", pid=crashed.pid) - stream.in_flight(crashed)
    assert committed_before
    assert committed_before <= redelivered
    if step == "4":  # committed on the broker, never written locally
        assert sum(line["rows"] for line in stream.trace.events("restored", pid=following.pid)) > 0
    stream.exactly_once(renders=size.distinct)


def test_a_hundred_undecodable_records_and_a_crash_after_the_commit_make_a_hundred_letters(new_stream: NewStream) -> None:
    stream = new_stream(QR_BATCH_RECORDS="20", QR_COMMIT_INTERVAL="60")
    values = [f"undecodable {number}".encode() for number in range(100)]
    for number, value in enumerate(values):
        stream.publisher.publish_bytes(b"key", value, partition=number % 4)
    crashed = stream.start("--crash-after", "4", "--nth", FIFTH)
    assert crashed.wait(DEADLINE_S) == CRASHED
    following = stream.start()
    stream.publisher.publish(contents(50, 5))
    stream.wait_all(following)
    assert stream.trace.offsets("redelivered", pid=following.pid)
    stream.exactly_once(renders=5)
    assert sorted(letter.value() for letter in stream.letters()) == sorted(values)
