"""Each guard of exactly-once proven by removal: the same fault with it does no harm, without it the oracle sees some."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.support.faulty_worker import CRASHED
from tests.support.oracle import Verdict
from tests.support.publisher import contents
from tests.support.stream_run import DEADLINE_S, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]

REQUESTS, DISTINCT = 1_000, 50


def without(guard: str) -> tuple[str, str]:
    return "--without", guard


def zombie_commits(new_stream: NewStream, *removed: str) -> Verdict:
    """A worker stopped right before its transaction begins, resumed when another has done its work."""
    stream = new_stream(QR_BATCH_RECORDS="50")
    stream.publisher.publish(contents(REQUESTS, DISTINCT))
    zombie = stream.start("--pause-in", "4-open", "--nth", "5", *removed, name="zombie")
    stream.wait(lambda: stream.trace.events("paused"), "the worker pauses in an open batch", DEADLINE_S, zombie)
    taker = stream.start(*removed, name="taker")
    stream.wait_all(taker)
    before = len(stream.trace.events("published", pid=zombie.pid))
    zombie.send(signal.SIGCONT)
    stream.wait(
        lambda: not zombie.running or len(stream.trace.events("published", pid=zombie.pid)) > before,
        "the resumed worker ends or publishes", 60,
    )
    return stream.verdict()


@pytest.mark.long
def test_fencing_keeps_a_zombie_from_publishing(new_stream: NewStream) -> None:
    assert zombie_commits(new_stream).faults == []


@pytest.mark.long
def test_without_fencing_a_zombie_answers_a_second_time(new_stream: NewStream) -> None:
    verdict = zombie_commits(new_stream, *without("fencing"))
    assert verdict.duplicated


def undecodable_redelivered(new_stream: NewStream, *removed: str) -> tuple[list[bytes], list[bytes]]:
    """Records without request id, redelivered after a crash behind the commit; published and dead-lettered values."""
    stream = new_stream(QR_BATCH_RECORDS="10", QR_COMMIT_INTERVAL="60")
    values = [f"undecodable {number}".encode() for number in range(40)]
    for number, value in enumerate(values):
        stream.publisher.publish_bytes(None, value, partition=number % 4)
    crashed = stream.start("--crash-after", "4", "--nth", "2")
    assert crashed.wait(DEADLINE_S) == CRASHED
    # Requests behind them in every partition: a batch commits only what brings the position forward.
    stream.publisher.publish(contents(100, 40))
    following = stream.start(*removed, environment={"QR_BATCH_RECORDS": "100"})
    stream.wait_all(following)
    assert stream.trace.offsets("redelivered", pid=following.pid)
    assert stream.verdict().faults == []
    return sorted(values), sorted(letter.value() for letter in stream.letters())


def test_the_position_makes_redelivery_harmless(new_stream: NewStream) -> None:
    published, letters = undecodable_redelivered(new_stream)
    assert letters == published


def test_without_the_position_redelivered_records_are_dead_lettered_twice(new_stream: NewStream) -> None:
    published, letters = undecodable_redelivered(new_stream, *without("position"))
    assert len(letters) > len(published)
    assert set(letters) == set(published)


def skipped_delivery(new_stream: NewStream, *removed: str) -> tuple[StreamRun, Verdict]:
    """One fetched record is lost on its way to the agent."""
    stream = new_stream()
    stream.publisher.publish(contents(REQUESTS, DISTINCT))
    worker = stream.start("--skip-delivery", "100", *removed)
    stream.wait(stream.caught_up, "every position has reached the source's end", DEADLINE_S, worker)
    assert len(stream.trace.offsets("lost")) == 1
    return stream, stream.verdict()


def test_continuity_brings_a_skipped_record_back(new_stream: NewStream) -> None:
    stream, verdict = skipped_delivery(new_stream)
    assert verdict.faults == []
    assert stream.trace.offsets("lost") <= stream.trace.offsets("taken")


def test_without_continuity_a_skipped_record_is_lost(new_stream: NewStream) -> None:
    stream, verdict = skipped_delivery(new_stream, *without("continuity"))
    assert len(verdict.missing) == 1
    assert not stream.trace.offsets("lost") & stream.trace.offsets("taken")


def repeated_ids(new_stream: NewStream, *removed: str) -> Verdict:
    """Every request published twice under its id."""
    stream = new_stream()
    parts = contents(REQUESTS, DISTINCT)
    ids = stream.publisher.publish(parts)
    stream.publisher.publish(parts, ids=ids)
    worker = stream.start(*removed)
    stream.wait(stream.caught_up, "every position has reached the source's end", DEADLINE_S, worker)
    return stream.verdict()


def test_markers_answer_a_repeated_request_id_once(new_stream: NewStream) -> None:
    verdict = repeated_ids(new_stream)
    assert verdict.faults == []
    assert verdict.outcomes == REQUESTS


@pytest.mark.long
def test_without_markers_a_repeated_request_id_is_answered_twice(new_stream: NewStream) -> None:
    verdict = repeated_ids(new_stream, *without("markers"))
    assert len(verdict.duplicated) == REQUESTS


def aborted_rows(new_stream: NewStream, *removed: str) -> Verdict:
    """A crash inside a transaction leaves rows in the changelog, a position among them, that were never committed."""
    stream = new_stream(QR_BATCH_RECORDS="50")
    stream.publisher.publish(contents(REQUESTS, DISTINCT))
    crashed = stream.start("--crash-after", "4-begun", "--nth", "5")
    assert crashed.wait(DEADLINE_S) == CRASHED
    following = stream.start(*removed)
    stream.wait(stream.caught_up, "every position has reached the source's end", DEADLINE_S, following)
    verdict = stream.verdict()
    assert verdict.aborted > 0
    return verdict


@pytest.mark.long
def test_a_read_committed_restore_never_sees_aborted_rows(new_stream: NewStream) -> None:
    assert aborted_rows(new_stream).faults == []


@pytest.mark.long
def test_a_read_uncommitted_restore_loses_requests(new_stream: NewStream) -> None:
    verdict = aborted_rows(new_stream, *without("read_committed"))
    assert verdict.missing
