"""A forwarder that cannot run says so in one clear line, and one that is told to stop does."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.exit_codes import ExitCode
from tests.support.broker import Names
from tests.support.command_line import COMMAND, PROJECT
from tests.support.delay_run import DelayRun, delay_run, log_events, now_ms
from tests.support.stream_run import DEADLINE_S, clean_environment
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


@pytest.fixture
def run(broker: str, names: Names, tmp_path: Path) -> Iterator[DelayRun]:
    with delay_run(broker, names, tmp_path / "delay") as made:
        yield made


def end_of_forwarder(run: DelayRun, **changed: str) -> tuple[int, str]:
    """Exit code and the one line that says why, of a forwarder that should not come to run."""
    environment = {**clean_environment(), **run.environment, "QR_DATA_DIR": str(run.folder / "f1"), **changed}
    ended = subprocess.run([*COMMAND, "delay"], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in ended.stderr + ended.stdout
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    said = [json.loads(line) for line in lines if line.startswith("{")]
    reasons = [line["reason"] for line in said if line.get("event") == "process_ends"] + [line for line in lines if not line.startswith("{")]
    assert len(reasons) == 1, ended.stderr
    return ended.returncode, reasons[0]


def test_what_it_lacks_is_named_with_its_code(run: DelayRun, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can come to listen there
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, reason = end_of_forwarder(run, QR_BROKER=address)
    assert (code, address in reason) == (ExitCode.BROKER, True)
    code, reason = end_of_forwarder(run, QR_RETRY_DELAYS="1,soon")
    assert code == ExitCode.SETTINGS
    assert reason.startswith("error settings: QR_RETRY_DELAYS='1,soon': 'soon' is no number of seconds")
    (tmp_path / "file").write_text("a file, not a folder")
    code, reason = end_of_forwarder(run, QR_DATA_DIR=str(tmp_path / "file"))
    assert (code, str(tmp_path / "file") in reason) == (ExitCode.DATA_FOLDER, True)


def test_missing_retry_topics_are_named_with_the_command_that_makes_them(run: DelayRun) -> None:
    run.delete_topic("render.retry.2")
    code, reason = end_of_forwarder(run)
    assert code == ExitCode.TOPICS
    assert reason == f"topic {run.names.topic_prefix}render.retry.2: does not exist; `qrstream topics create` makes it"


def test_a_second_one_on_the_same_folder_is_refused_and_a_signal_ends_the_first_within_its_time(run: DelayRun) -> None:
    forwarder = run.start()
    run.wait_assigned(forwarder, 32)
    code, reason = end_of_forwarder(run)
    assert code == ExitCode.DATA_FOLDER
    assert reason == f"data folder {run.folder / 'f1' / 'delay'} is used by another process; give each its own QR_DATA_DIR"
    run.park(10, due_ms=[now_ms() + 3_600_000] * 10)
    began = time.monotonic()
    forwarder.send(signal.SIGINT)
    assert forwarder.wait(DEADLINE_S) == ExitCode.OK
    assert time.monotonic() - began < 10
    assert log_events(forwarder, "delay_stopped")[0]["forwarded"] == 0


def test_a_topic_that_is_deleted_under_it_ends_it_with_the_code_for_topics(run: DelayRun) -> None:
    forwarder = run.start()
    run.wait_assigned(forwarder, 32)
    run.delete_topic("render.retry.4")
    wait_until(lambda: not forwarder.running, DEADLINE_S, "the forwarder notices")
    assert forwarder.process.returncode == ExitCode.TOPICS
    (end,) = log_events(forwarder, "process_ends")
    assert "`qrstream topics create` makes it" in end["reason"]
