"""A worker that cannot run says so in one clear line and ends with the code for it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_INVALID
from confluent_kafka.admin import NewPartitions

from streams.exit_codes import ExitCode
from tests.support.stream_run import StreamRun, clean_environment
from tests.support.warm_process import PROJECT

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
COMMAND = [sys.executable, "-c", "from streams.cli.main import main; main()", "worker"]


def end_of_worker(stream: StreamRun, **changed: str) -> tuple[int, str]:
    """Exit code and the one line that says why, of a worker that should not come to run."""
    environment = {**clean_environment(), **stream.environment, "QR_DATA_DIR": str(stream.folder / "w1"), **changed}
    ended = subprocess.run(COMMAND, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in ended.stderr + ended.stdout
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    said = [json.loads(line) for line in lines if line.startswith("{")]
    reasons = [line["reason"] for line in said if line.get("event") == "process_ends"] + [line for line in lines if not line.startswith("{")]
    assert len(reasons) == 1, ended.stderr
    assert "\n" not in reasons[0]
    return ended.returncode, reasons[0]


def test_another_partition_count_is_refused_by_name_and_number(stream: StreamRun) -> None:
    code, reason = end_of_worker(stream, QR_PARTITIONS="6")
    assert code == ExitCode.TOPICS
    assert stream.requested in reason
    assert stream.changelog in reason
    assert "4 partitions, but QR_PARTITIONS is 6" in reason


def test_a_topic_that_has_grown_is_refused(stream: StreamRun) -> None:
    for future in stream.admin.create_partitions([NewPartitions(stream.requested, 5)]).values():
        future.result(30)
    code, reason = end_of_worker(stream)
    assert code == ExitCode.TOPICS
    assert f"{stream.requested} (5 partitions)" in reason
    assert f"{stream.changelog} (4 partitions)" in reason


def test_a_missing_topic_is_named_with_the_command_that_makes_it(stream: StreamRun) -> None:
    for future in stream.admin.delete_topics([stream.completed], operation_timeout=30).values():
        future.result(30)
    code, reason = end_of_worker(stream)
    assert code == ExitCode.TOPICS
    assert stream.completed in reason
    assert stream.failed not in reason
    assert "do not exist" in reason or "does not exist" in reason
    assert "qrstream topics create" in reason


def test_an_unreachable_broker_is_named(stream: StreamRun) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can come to listen there
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, reason = end_of_worker(stream, QR_BROKER=address)
    assert code == ExitCode.BROKER
    assert address in reason


def test_a_data_folder_that_cannot_be_written_is_named(stream: StreamRun, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file, not a folder")
    folder = tmp_path / "file" / "data"  # refused to every user, root included
    code, reason = end_of_worker(stream, QR_DATA_DIR=str(folder))
    assert code == ExitCode.DATA_FOLDER
    assert str(folder) in reason


def test_a_data_folder_of_a_running_worker_is_refused(stream: StreamRun) -> None:
    running = stream.start()
    stream.wait_open(running)
    code, reason = end_of_worker(stream)
    assert code == ExitCode.DATA_FOLDER
    assert str(stream.folder / "w1") in reason
    assert running.running


def test_an_address_in_use_is_named(stream: StreamRun) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, reason = end_of_worker(stream, QR_HTTP=address)
    assert code == ExitCode.PORT_IN_USE
    assert address in reason


def test_lost_state_is_refused_and_says_what_to_do(stream: StreamRun) -> None:
    first = stream.start()
    stream.publisher.publish(["a", "b", "c", "d", "e", "f", "g", "h"])
    stream.wait_all(first)
    stream.wait(stream.caught_up, "the group's offsets are committed", 30, first)
    assert first.terminate() == 0
    stream.remake_topic(stream.changelog)
    again = stream.start(name="new-machine")
    assert again.wait(60) == ExitCode.STATE
    reasons = [line["reason"] for line in again.log_lines() if line["event"] == "process_ends"]
    assert len(reasons) == 1
    assert "QR_APP_ID" in reasons[0]


def test_a_worker_that_makes_other_bytes_than_its_profile_joins_nothing(stream: StreamRun) -> None:
    worker = stream.start("--other-bytes")
    assert worker.wait(120) == ExitCode.OTHER_BYTES
    [end] = [line for line in worker.log_lines() if line["event"] == "process_ends"]
    assert end["exit_name"] == "OTHER_BYTES"
    assert end["reason"].startswith("golden vector 1 of profile qr-1 (png, version 1) has another file; this worker must not join: ")
    assert stream.trace.events("opened") == []
    assert set(stream.committed_offsets().values()) == {OFFSET_INVALID}
