"""What a worker does with the rows that it finds in its data folder, and with restores that take long."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import rocksdict

from streams.ownership.checkpoint import Checkpoint
from streams.ownership.partition_rows import CHECKPOINT_KEY
from tests.support.outcome_reader import topic_records
from tests.support.publisher import contents
from tests.support.stream_run import PARTITIONS, SESSION_S, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]

REQUESTS, DISTINCT = 1_500, 75
DAY_MS = 86_400_000


def run_part(stream: StreamRun, part: list[str]) -> None:
    """Start the worker on its folder, publish, wait for every outcome, stop it."""
    worker = stream.start()
    stream.publisher.publish(part)
    stream.wait_all(worker)
    assert worker.terminate() == 0


def rows_folder(stream: StreamRun, partition: int) -> Path:
    return stream.folder / "w1" / "tables" / "render" / str(partition)


def read_checkpoint(stream: StreamRun, partition: int) -> Checkpoint:
    rows = rocksdict.Rdict(str(rows_folder(stream, partition)), rocksdict.Options(raw_mode=True))
    try:
        found = rows[CHECKPOINT_KEY]
        assert isinstance(found, bytes)
        return Checkpoint.decode(found)
    finally:
        rows.close()


def change_checkpoints(stream: StreamRun, change: Callable[[Checkpoint], Checkpoint]) -> None:
    for partition in range(PARTITIONS):
        changed = change(read_checkpoint(stream, partition))
        rows = rocksdict.Rdict(str(rows_folder(stream, partition)), rocksdict.Options(raw_mode=True))
        rows[CHECKPOINT_KEY] = changed.encode()
        rows.close()


def changelog_rows(stream: StreamRun, beyond: dict[int, int]) -> dict[int, int]:
    """Committed records of each changelog partition beyond an offset."""
    counts = dict.fromkeys(range(PARTITIONS), 0)
    for record in topic_records(stream.bootstrap, {stream.changelog: PARTITIONS}):
        partition, offset = record.partition(), record.offset()
        assert partition is not None
        assert offset is not None
        counts[partition] += offset > beyond[partition]
    return counts


def test_an_old_data_folder_brought_back_gets_the_rows_that_it_lacks(stream: StreamRun) -> None:
    parts = contents(REQUESTS, DISTINCT)
    run_part(stream, parts[:500])
    folder, kept = stream.folder / "w1", stream.folder / "kept"
    shutil.copytree(folder, kept)
    run_part(stream, parts[500:1_000])
    shutil.rmtree(folder)
    kept.rename(folder)
    lacking = changelog_rows(stream, {p: read_checkpoint(stream, p).offset for p in range(PARTITIONS)})
    assert all(lacking.values())
    worker = stream.start()
    stream.publisher.publish(parts[1_000:])
    stream.wait_all(worker)
    restored = stream.trace.events("restored", pid=worker.pid)
    assert {line["partition"]: line["rows"] for line in restored} == lacking
    assert {line["full_because"] for line in restored} == {None}
    verdict = stream.exactly_once(renders=DISTINCT)
    assert verdict.encoder_calls == DISTINCT


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(lambda found: dataclasses.replace(found, offset=found.offset + 1_000_000), "past the changelog's end", id="past the end"),
        pytest.param(lambda found: dataclasses.replace(found, topic_id="AAAAAAAAAAAAAAAAAAAAAA"), "another changelog topic", id="another topic UUID", marks=pytest.mark.long),
        pytest.param(lambda found: dataclasses.replace(found, written_ms=found.written_ms - DAY_MS), "too old", id="too old", marks=pytest.mark.long),
    ],
)
def test_a_checkpoint_that_cannot_be_believed_means_a_full_restore(stream: StreamRun, change: Callable[[Checkpoint], Checkpoint], reason: str) -> None:
    parts = contents(REQUESTS, DISTINCT)
    run_part(stream, parts[:1_000])
    change_checkpoints(stream, change)
    everything = changelog_rows(stream, dict.fromkeys(range(PARTITIONS), -1))
    assert all(everything.values())
    worker = stream.start()
    stream.publisher.publish(parts[1_000:])
    stream.wait_all(worker)
    restored = stream.trace.events("restored", pid=worker.pid)
    assert {line["partition"]: line["rows"] for line in restored} == everything
    assert {line["full_because"] for line in restored} == {reason}
    verdict = stream.exactly_once(renders=DISTINCT)
    assert verdict.encoder_calls == DISTINCT


def test_an_empty_data_folder_is_restored_in_full(stream: StreamRun) -> None:
    parts = contents(REQUESTS, DISTINCT)
    run_part(stream, parts[:1_000])
    everything = changelog_rows(stream, dict.fromkeys(range(PARTITIONS), -1))
    worker = stream.start(name="new-machine")
    stream.publisher.publish(parts[1_000:])
    stream.wait_all(worker)
    assert {line["partition"]: line["rows"] for line in stream.trace.events("restored", pid=worker.pid)} == everything
    stream.exactly_once(renders=DISTINCT)


@pytest.mark.long
def test_a_restore_longer_than_the_request_timeout_ends_well(stream: StreamRun) -> None:
    parts = contents(REQUESTS, DISTINCT)
    run_part(stream, parts[:1_000])
    worker = stream.start("--slow-restore", "9", "--request-timeout", "7")
    stream.publisher.publish(parts[1_000:])
    stream.wait_all(worker)
    generations = {line["generation"] for line in stream.trace.events("opened", pid=worker.pid)}
    assert len(generations) == 1
    stream.exactly_once(renders=DISTINCT)


@pytest.mark.long
def test_fencing_slower_than_the_session_timeout_ends_well(stream: StreamRun) -> None:
    worker = stream.start("--slow-fence", str(SESSION_S + 2))
    stream.publisher.publish(contents(REQUESTS, DISTINCT))
    stream.wait_all(worker)
    generations = {line["generation"] for line in stream.trace.events("opened", pid=worker.pid)}
    assert len(generations) == 1
    stream.exactly_once(renders=DISTINCT)
