"""Requests in, outcomes out, exactly once: undisturbed, killed, and with workers coming and going."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable

import pytest

from tests.support.publisher import contents
from tests.support.sizes import Size, both_sizes
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]


@both_sizes
def test_every_request_has_one_outcome_and_every_content_is_rendered_once(stream: StreamRun, size: Size) -> None:
    worker = stream.start()
    stream.publisher.publish(contents(size.requests, size.distinct))
    stream.wait_all(worker, within_s=400)
    verdict = stream.exactly_once(renders=size.distinct)
    assert verdict.outcomes == size.requests
    assert verdict.by_source == {"rendered": size.distinct, "cache": size.requests - size.distinct}
    assert verdict.encoder_calls == size.distinct
    assert verdict.aborted == 0


@both_sizes
def test_kill_minus_nine_twice_between_the_first_and_the_last_outcome(stream: StreamRun, size: Size) -> None:
    parts = contents(size.requests, size.distinct)
    third = size.requests // 3
    in_flight = 0
    seen = 0
    for part in (parts[:third], parts[third : 2 * third]):
        worker = stream.start()
        stream.publisher.publish(part)
        stream.wait_outcomes(seen + 1, worker)
        worker.kill()
        seen = len(stream.outcomes.to_end())
        in_flight += len(stream.in_flight(worker))
        # The last third is published only after the second kill: both fall before the last outcome.
        assert 0 < seen < size.requests
    worker = stream.start()
    stream.publisher.publish(parts[2 * third :])
    stream.wait_all(worker, within_s=240)
    verdict = stream.exactly_once(renders=size.distinct)
    assert size.distinct <= verdict.encoder_calls <= size.distinct + in_flight


def test_a_second_worker_joins_and_leaves_while_requests_come_in(new_stream: NewStream) -> None:
    stream = new_stream(QR_BATCH_RECORDS="50")
    everything = contents(2_000, 200)
    incoming = itertools.cycle(everything)

    def publish_until(condition: Callable[[], bool], what: str) -> None:
        def published() -> bool:
            stream.publisher.publish(itertools.islice(incoming, 10))
            return condition()

        stream.wait(published, what, DEADLINE_S)

    first = stream.start(name="first")
    stream.wait_open(first)
    second = stream.start(name="second")
    half = PARTITIONS // 2
    publish_until(lambda: len(stream.owned_by(second)) == half == len(stream.owned_by(first)), "the workers share the partitions")
    assert stream.owned_by(first) | stream.owned_by(second) == set(range(PARTITIONS))
    publish_until(lambda: len(stream.trace.events("published", pid=second.pid)) > 3, "the second worker commits batches")
    second.send(signal.SIGTERM)
    publish_until(lambda: not second.running and len(stream.owned_by(first)) == PARTITIONS, "the second worker leaves, the first owns all")
    assert second.process.returncode == 0
    stream.publisher.publish(everything)
    stream.wait_all(first)
    verdict = stream.exactly_once(renders=200)
    assert 200 <= verdict.encoder_calls <= 200 + len(stream.trace.offsets("abandoned"))
