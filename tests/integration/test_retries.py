"""Retries end to end: a store that fails, requests that wait on delay topics, processes that are killed meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from streams.topics import RETRIES
from tests.support.outcome_reader import topic_records
from tests.support.publisher import contents
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]
NewStream = Callable[..., StreamRun]

RETRY_PARTITIONS = 8
QUICK = "0.5,0.5,1,2"


def with_failing_store(new_stream: NewStream, folder: Path, rate: float, **settings: str) -> StreamRun:
    folder.mkdir()
    return new_stream(QR_ARTIFACT_STORE=folder.as_uri(), QR_FAULT_STORE_RATE=str(rate), QR_RETRY_DELAYS=QUICK, **settings)


def parked(stream: StreamRun) -> list[Counter[bytes]]:
    """How often each hash was parked on each delay topic."""
    found = []
    for topic in RETRIES:
        records = topic_records(stream.bootstrap, {topic.full_name(stream.settings): RETRY_PARTITIONS})
        found.append(Counter(bytes(record.key() or b"") for record in records))
    return found


@pytest.mark.parametrize("requests", [600, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_store_that_fails_30_percent_of_its_puts_costs_time_and_no_outcome(new_stream: NewStream, tmp_path: Path, requests: int) -> None:
    stream = with_failing_store(new_stream, tmp_path / "artifacts", 0.3)
    distinct = requests // 2
    stream.publisher.publish(contents(requests, distinct))
    worker, forwarder = stream.start(), stream.start_forwarder()
    stream.wait_all(worker, forwarder, within_s=600)
    verdict = stream.verdict()
    exhausted = verdict.by_error["store_unavailable"]
    # What used up its attempts has failed, and nothing else; the oracle takes any failure for a fault.
    assert len(verdict.wrong) == exhausted
    assert not verdict.missing + verdict.duplicated + verdict.ghosts
    assert verdict.outcomes == requests
    assert verdict.encoder_calls == distinct
    times = parked(stream)
    assert all(set(Counter(later)) <= set(earlier) for earlier, later in pairwise(times))
    assert all(count == 1 for topic in times for count in topic.values()), "one leading request of a hash at a time"
    letters = {bytes(letter.key() or b"") for letter in stream.letters()}
    assert letters <= set(times[3]), "dead-lettered before its attempts were used up"
    # 0.3, 0.09, …: each within six standard deviations of what so many draws give.
    for number, topic in enumerate(times, 1):
        share = 0.3**number
        slack = 6 * (distinct * share * (1 - share)) ** 0.5
        assert abs(len(topic) - distinct * share) <= slack, f"attempt {number}: {len(topic)} of {distinct}"


def test_worker_and_forwarder_killed_while_a_thousand_requests_are_parked_bring_each_back_once(new_stream: NewStream, tmp_path: Path) -> None:
    stream = with_failing_store(new_stream, tmp_path / "artifacts", 1.0)
    stream.publisher.publish(contents(1_000, 1_000))
    worker = stream.start()
    stream.wait(lambda: sum(parked(stream)[0].values()) == 1_000, "all are parked", DEADLINE_S, worker)
    worker.kill()
    sound = {"QR_FAULT_STORE_RATE": "0"}
    forwarder = stream.start_forwarder()
    stream.wait(lambda: stream.ends(stream.requested) != {} and sum(stream.ends(stream.requested).values()) > 1_100, "some are back", DEADLINE_S, forwarder)
    forwarder.kill()
    assert stream.outcomes.count() == 0
    worker = stream.start(environment=sound)
    forwarder = stream.start_forwarder()
    stream.wait_outcomes(100, worker, forwarder)
    worker.kill()
    assert len(stream.outcomes.to_end()) < 1_000
    worker = stream.start(environment=sound)
    stream.wait_all(worker, forwarder)
    verdict = stream.exactly_once(renders=1_000)
    assert verdict.encoder_calls == 1_000, "what was rendered before is put, not made again"


def test_requests_of_parked_hashes_wait_and_are_answered_behind_them(new_stream: NewStream, tmp_path: Path) -> None:
    stream = with_failing_store(new_stream, tmp_path / "artifacts", 1.0)
    stream.publisher.publish(contents(600, 20))
    worker = stream.start()
    stream.wait(stream.caught_up, "all are taken", DEADLINE_S, worker)
    assert len(parked(stream)[0]) == 20
    worker.kill()
    worker, forwarder = stream.start(environment={"QR_FAULT_STORE_RATE": "0"}), stream.start_forwarder()
    stream.wait_all(worker, forwarder)
    verdict = stream.exactly_once(renders=20)
    assert verdict.by_source == {"rendered": 20, "cache": 580}
    assert verdict.encoder_calls == 20


def test_a_crash_between_the_put_and_the_transaction_renders_nothing_again(new_stream: NewStream, tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir()
    stream = new_stream(QR_ARTIFACT_STORE=(tmp_path / "artifacts").as_uri(), QR_BATCH_RECORDS="50", QR_COMMIT_INTERVAL="60")
    stream.publisher.publish(contents(600, 300))
    crashed = stream.start("--crash-after", "3", "--nth", "5")
    assert crashed.wait(DEADLINE_S) != 0
    in_flight = stream.in_flight(crashed)
    put = len(list((tmp_path / "artifacts").rglob("*.png")))
    # Of the other partitions' renders some may have been made and not yet put.
    not_put = len(stream.trace.events("encoded")) - put
    assert put > len({outcome.fields["content_hash"] for outcome in stream.outcomes.to_end()}), "nothing was put that was not committed"
    following = stream.start()
    stream.wait_all(following)
    assert in_flight <= stream.trace.offsets("taken", pid=following.pid)
    assert 300 <= stream.exactly_once(renders=300).encoder_calls <= 300 + not_put


def test_what_retention_took_from_a_delay_topic_ends_as_lost(new_stream: NewStream, tmp_path: Path) -> None:
    stream = with_failing_store(new_stream, tmp_path / "artifacts", 1.0, QR_RETRY_GRACE="5")
    stream.publisher.publish(contents(20, 20))
    worker = stream.start()
    stream.wait(lambda: sum(parked(stream)[0].values()) == 20, "all are parked", DEADLINE_S, worker)
    # No forwarder runs: to the owner that is the same as a record that is gone.
    stream.wait_outcomes(20, worker, within_s=120)
    verdict = stream.verdict()
    assert verdict.by_error == {"retry_lost": 20}
    assert not verdict.missing + verdict.duplicated
    assert len(stream.owned_by(worker)) == PARTITIONS
