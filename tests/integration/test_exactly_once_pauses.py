"""Workers stopped by SIGSTOP and resumed: the zombie, the long sleeper, the sleeper inside a transaction."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from streams.exit_codes import ExitCode
from tests.support.publisher import contents
from tests.support.sizes import Size, both_sizes
from tests.support.stream_run import DEADLINE_S, PARTITIONS, SESSION_S, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]


@both_sizes
def test_a_worker_resumed_after_another_took_over_is_fenced_and_publishes_nothing(new_stream: NewStream, size: Size) -> None:
    stream = new_stream(QR_BATCH_RECORDS=str(size.batch))
    stream.publisher.publish(contents(size.requests, size.distinct))
    zombie = stream.start("--pause-in", "4-open", "--nth", "5", name="zombie")
    stream.wait(lambda: stream.trace.events("paused"), "the worker pauses in an open batch", DEADLINE_S, zombie)
    taker = stream.start(name="taker")
    stream.wait_open(taker)
    stream.wait_all(taker)
    published_before = len(stream.trace.events("published", pid=zombie.pid))
    zombie.send(signal.SIGCONT)
    assert zombie.wait(60) == ExitCode.FENCED
    attempted = stream.trace.events("publishing", pid=zombie.pid)
    published = stream.trace.events("published", pid=zombie.pid)
    assert len(published) == published_before < len(attempted)
    ends = [line for line in zombie.log_lines() if line["event"] == "process_ends"]
    assert [line["exit_name"] for line in ends] == ["FENCED"]
    verdict = stream.exactly_once(renders=size.distinct)
    assert size.distinct <= verdict.encoder_calls <= size.distinct + len(stream.in_flight(zombie))


@pytest.mark.long
@both_sizes
def test_a_worker_that_slept_beyond_its_session_rejoins_as_a_new_generation_and_goes_on(new_stream: NewStream, size: Size) -> None:
    stream = new_stream(QR_BATCH_RECORDS=str(size.batch))
    parts = contents(size.requests, size.distinct)
    worker = stream.start()
    stream.publisher.publish(parts[: size.requests // 2])
    stream.wait_all(worker)
    worker.send(signal.SIGSTOP)
    stream.wait(lambda: stream.group_members() == 0, "the broker has removed the sleeping member", SESSION_S + 30)
    stream.publisher.publish(parts[size.requests // 2 :])
    worker.send(signal.SIGCONT)
    stream.wait_all(worker)
    assert worker.running
    generations = sorted({line["generation"] for line in stream.trace.events("opened", pid=worker.pid)})
    assert len(generations) == 2
    assert stream.owned_by(worker) == set(range(PARTITIONS))
    verdict = stream.exactly_once(renders=size.distinct)
    assert verdict.encoder_calls == size.distinct


@pytest.mark.long
@both_sizes
def test_a_worker_that_slept_inside_a_transaction_beyond_its_timeout_goes_on_or_its_restart_does(new_stream: NewStream, size: Size) -> None:
    stream = new_stream(QR_BATCH_RECORDS=str(size.batch), QR_TRANSACTION_TIMEOUT="2")
    stream.publisher.publish(contents(size.requests, size.distinct))
    sleeper = stream.start("--pause-in", "4-begun", "--nth", "5")
    stream.wait(lambda: stream.trace.events("paused"), "the worker pauses inside a transaction", DEADLINE_S, sleeper)
    # The broker looks for timed-out transactions every 10 s.
    stream.wait(lambda: stream.stable_ends() == stream.ends(), "the broker has aborted the open transaction", 60)
    sleeper.send(signal.SIGCONT)
    total = len(stream.publisher.expected)
    stream.wait(lambda: not sleeper.running or stream.outcomes.count() >= total, "the worker goes on or ends", 90)
    if not sleeper.running:
        assert sleeper.process.returncode == ExitCode.FENCED, sleeper.log.read_text()[-2000:]
        stream.wait_all(stream.start())
    verdict = stream.exactly_once(renders=size.distinct)
    assert verdict.aborted > 0
    assert size.distinct <= verdict.encoder_calls <= size.distinct + PARTITIONS * size.batch
