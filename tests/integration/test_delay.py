"""Parked records come back: each once, when it is due, in the order of its partition, as it was."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from streams.exit_codes import ExitCode
from streams.topics import HEADER_ROOM, INPUT_LIMIT
from tests.support.broker import unique_names
from tests.support.delay_run import DelayRun, Sent, delay_run, log_events, now_ms
from tests.support.faulty_worker import CRASHED
from tests.support.outcome_reader import topic_records
from tests.support.stream_run import DEADLINE_S
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewRun = Callable[..., DelayRun]
ALL_PARTITIONS = 32


@pytest.fixture
def new_run(broker: str, tmp_path: Path) -> Iterator[NewRun]:
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(delay_run(broker, unique_names(), tmp_path / "delay", **settings))


def spread(count: int, seconds: float, *, after_s: float = 0.0) -> Iterator[int]:
    """Due times that rise over so many seconds from now on."""
    begin = now_ms() + round(after_s * 1000)
    return (begin + round(number * seconds * 1000 / count) for number in range(count))


def test_parked_records_come_back_once_when_due_in_order_and_as_they_were(new_run: NewRun) -> None:
    run = new_run()
    forwarder = run.start()
    run.wait_assigned(forwarder, ALL_PARTITIONS)
    run.park(400, due_ms=spread(400, 4, after_s=2))
    run.wait_back(400, forwarder)
    assert forwarder.terminate() == 0
    assert run.faults() == []
    (last,) = log_events(forwarder, "delay_stopped")
    assert last["forwarded"] == 400
    assert last["dead_letters"] == last["aborted"] == 0
    assert last["transactions"] > 1


@pytest.mark.long
def test_more_than_memory_holds_waits_in_the_log(new_run: NewRun) -> None:
    run = new_run(QR_BATCH_RECORDS="100")
    run.park(3_000, due_ms=spread(3_000, 3), in_one_transaction=500)
    forwarder = run.start("--most-held", "320")
    run.wait_back(3_000, forwarder)
    run.end()
    assert run.faults() == []
    assert run.trace.events("fetch_paused")
    assert run.trace.events("fetch_resumed")


@pytest.mark.parametrize("step", [pytest.param("due", marks=pytest.mark.long), pytest.param("open", marks=pytest.mark.long), "begun", "committed"])
def test_a_forwarder_killed_at_a_step_loses_and_doubles_nothing(new_run: NewRun, step: str) -> None:
    run = new_run(QR_BATCH_RECORDS="50")
    run.park(1_000, due_ms=spread(1_000, 2))
    crashed = run.start("--crash-after", step, "--nth", "8")
    assert crashed.wait(DEADLINE_S) == CRASHED
    before = len(run.back())
    # The trace is written outside the fault: the transaction of the crash itself is not in it.
    assert (before > run.forwarded_by(crashed)) == (step == "committed")
    assert 0 < before < 1_000
    following = run.start()
    run.wait_back(1_000, following)
    run.end()
    assert run.faults() == []
    aborted = len(run.back("read_uncommitted")) - 1_000
    assert (aborted > 0) == (step in {"open", "begun"})
    assert run.forwarded_by(following) == 1_000 - before


def test_kill_minus_nine_of_the_forwarder_while_a_thousand_requests_are_parked(new_run: NewRun) -> None:
    run = new_run(QR_BATCH_RECORDS="20")
    killed = run.start()
    run.wait_assigned(killed, ALL_PARTITIONS)
    run.park(1_000, due_ms=spread(1_000, 10))
    wait_until(lambda: run.forwarded_by(killed) > 200, DEADLINE_S, "some records are back")
    killed.kill()
    assert 200 < len(run.back()) < 1_000
    following = run.start()
    run.wait_back(1_000, following)
    assert following.terminate() == 0
    assert run.faults() == []


def test_without_offsets_in_the_transaction_a_kill_brings_records_back_twice(new_run: NewRun) -> None:
    run = new_run(QR_BATCH_RECORDS="50")
    run.park(1_000, due_ms=spread(1_000, 2))
    crashed = run.start("--crash-after", "committed", "--nth", "8", "--without-offsets")
    assert crashed.wait(DEADLINE_S) == CRASHED
    before = len(run.back())
    following = run.start("--without-offsets")
    run.wait_back(1_000 + before, following)
    run.end()
    assert len([fault for fault in run.faults() if fault.startswith("2 times")]) == before


@pytest.mark.long
def test_a_second_forwarder_joins_and_the_first_is_killed_while_records_come_back(new_run: NewRun) -> None:
    # So little memory that partitions are paused when they change hands.
    run = new_run(QR_BATCH_RECORDS="20")
    first = run.start("--most-held", "64", name="first")
    run.wait_assigned(first, ALL_PARTITIONS)

    def park_until(condition: Callable[[], bool], what: str) -> None:
        def parked_and() -> bool:
            run.park(20, due_ms=spread(20, 1))
            return condition()

        wait_until(parked_and, DEADLINE_S, what)

    park_until(lambda: run.forwarded_by(first) > 50, "the first forwards")
    second = run.start("--most-held", "64", name="second")
    park_until(lambda: run.forwarded_by(second) > 50, "the second forwards")
    run.wait_assigned(first, ALL_PARTITIONS // 2)
    before = run.forwarded_by(first)
    park_until(lambda: run.forwarded_by(first) > before, "the first goes on with its half")
    first.kill()
    park_until(lambda: run.trace.events("assigned", pid=second.pid)[-1]["partitions"] == ALL_PARTITIONS, "the second takes over")
    run.wait_back(len(run.sent), second)
    assert second.terminate() == 0
    assert run.faults() == []
    assert run.trace.events("fetch_paused", pid=first.pid)


@pytest.mark.parametrize("step", [pytest.param("open", marks=pytest.mark.long), "begun"])
def test_a_forwarder_stopped_inside_a_transaction_stalls_the_stream_no_longer_than_its_timeout_and_is_told_of(new_run: NewRun, step: str) -> None:
    run = new_run(QR_BATCH_RECORDS="20", QR_TRANSACTION_TIMEOUT="8")
    peer = run.start(name="peer")
    run.wait_assigned(peer, ALL_PARTITIONS)
    sleeper = run.start("--pause-in", step, "--nth", "3", name="sleeper")
    run.wait_assigned(sleeper, ALL_PARTITIONS // 2)
    run.wait_assigned(peer, ALL_PARTITIONS // 2)
    run.park(600, due_ms=spread(600, 2), in_one_transaction=100)
    wait_until(lambda: run.trace.events("paused", pid=sleeper.pid), DEADLINE_S, "it sleeps in a transaction")
    stopped_ms = now_ms()
    wait_until(lambda: log_events(peer, "transaction_open_long"), 30, "the peer tells of the open transaction")
    alarm = log_events(peer, "transaction_open_long")[0]
    assert alarm["level"] == "warning"
    assert 5 < alarm["seconds"] < 15
    assert alarm["topic"] == run.requested
    run.wait_back(600, peer)
    # The broker looks for transactions past their timeout every 10 s by default; the rest is the peer's own work.
    assert now_ms() - stopped_ms < (8 + 10 + 15) * 1000
    wait_until(lambda: log_events(peer, "transaction_ended"), 30, "the peer tells of its end")
    sleeper.send(signal.SIGCONT)
    assert sleeper.wait(60) == ExitCode.FENCED
    (end,) = log_events(sleeper, "process_ends")
    assert end["exit_name"] == "FENCED"
    run.end()
    assert run.faults() == []
    assert len(run.back("read_uncommitted")) > 600


@pytest.mark.long
def test_records_of_any_shape_are_sent_on_at_once_and_told_of_once(new_run: NewRun) -> None:
    run = new_run()
    attempt = (("qr-attempt", b"2"),)
    shapes = [
        Sent(0, 1, 0, b"a" * 64, b"no due time", attempt),
        Sent(0, 1, 0, b"b" * 64, b"no due time either", attempt),
        Sent(1, 2, 0, b"c" * 64, b"due in a million years", (*attempt, ("qr-due", b"9" * 14))),
        Sent(3, 7, 0, b"d" * 64, b"no headers", ()),
    ]
    for one in shapes:
        run.park_one(one)
    forwarder = run.start()
    run.wait_back(4, forwarder)
    assert forwarder.terminate() == 0
    assert run.faults() == []
    warned = [line["reason"] for line in log_events(forwarder, "parked_record_odd")]
    assert len(warned) == len(set(warned)) == 3


@pytest.mark.long
def test_a_parked_record_that_the_requested_topic_refuses_becomes_a_dead_letter_and_stops_nobody(new_run: NewRun) -> None:
    run = new_run()
    run.park(10, due_ms=[now_ms()] * 10)
    # More than the requested topic takes and less than a retry topic does, which no compression makes smaller.
    noise = random.Random(1).randbytes(INPUT_LIMIT + HEADER_ROOM // 8)
    large = Sent(2, 3, 0, b"f" * 64, noise, (("qr-attempt", b"2"), ("qr-due", b"1")))
    run.park_one(large, comes_back=False)
    run.park(20, due_ms=[now_ms()] * 20)
    forwarder = run.start()
    run.wait_back(30, forwarder)
    wait_until(lambda: topic_records(run.bootstrap, {run.dead_letters: 1}), DEADLINE_S, "the letter is there")
    assert forwarder.terminate() == 0
    assert run.faults() == []
    (letter,) = topic_records(run.bootstrap, {run.dead_letters: 1})
    headers = dict(letter.headers() or [])
    assert (letter.key(), letter.value()) == (large.key, large.value)
    assert headers["qr-dlq-reason"] == b"request_too_large"
    assert headers["qr-dlq-source-partition"] == b"3"
    assert headers["qr-attempt"] == b"2"
