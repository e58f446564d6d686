"""`qrstream up`: the newcomer's command, from start to Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.artifact_check import content_of
from tests.support.broker import Names
from tests.support.command_line import CommandLine
from tests.support.independent_hash import content_hash
from tests.support.publisher import request
from tests.support.waiting import wait_until

pytestmark = pytest.mark.integration

LINES = [
    {"request_id": "a", "content": "first"},
    {"request_id": "b", "content": "first", "scale": 8},
    {"request_id": "a", "content": "first"},
    {"request_id": "c", "content": "second", "format": "svg"},
    {"request_id": "d", "content": "third", "deliver": "reference"},
    {"request_id": "e", "content": "x", "scale": -1},
    {"request_id": "f", "content": "\ud800"},
    {"content": "no id"},
]
SUMMARY = {"requests": 8, "completed": 5, "failed": 2, "rendered": 4, "from_cache": 1, "duplicates": 1}


@pytest.fixture
def shell(broker: str, names: Names, tmp_path: Path) -> CommandLine:
    return CommandLine({
        "QR_BROKER": broker, "QR_TOPIC_PREFIX": names.topic_prefix, "QR_APP_ID": names.app_id, "QR_PARTITIONS": "2", "QR_OUTPUT_PARTITIONS": "2",
        "QR_DATA_DIR": str(tmp_path / "up"),
    })


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    file = tmp_path / "requests.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return file


def summary_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert summary.pop("seconds") > 0
    return summary


def test_once_answers_every_request_and_a_second_time_from_the_cache(shell: CommandLine, requests: Path, tmp_path: Path) -> None:
    first = shell.run("up", str(requests), "--once")
    assert summary_of(first) == SUMMARY
    second = shell.run("up", str(requests), "--once")
    assert summary_of(second) == {**SUMMARY, "rendered": 0, "from_cache": 5}

    hashes = {content_hash(request("first", "")): "png", content_hash(request("second", "", format="svg")): "svg",
              content_hash(request("third", "")): "png", content_hash(request("no id", "")): "png"}
    folder = tmp_path / "up" / "artifacts"
    assert {file.name for file in folder.iterdir()} == {f"{name}.{extension}" for name, extension in hashes.items()}
    by_reference = folder / (content_hash(request("third", "")) + ".png")
    assert content_of(by_reference.read_bytes(), "image/png") == b"third"

    assert "line 7 refused: invalid_content: " in first.stdout
    assert re.search(r"completed rendered +4 ", first.stdout)
    assert re.search(r"failed invalid_option +1 ", first.stdout)
    assert re.search(r"dropped +1 ", first.stdout)
    assert "████ ▄▄▄▄▄ " in first.stdout
    assert f"4 files for 5 completed requests in {folder}/" in first.stdout


def started(shell: CommandLine, requests: Path, output: Path) -> tuple[subprocess.Popen[str], Callable[[str], bool]]:
    with output.open("w") as out:
        process = shell.start("up", str(requests), stdout=out)
    return process, lambda text: text in output.read_text()


def worker_pid(output: Path) -> int:
    return int(re.findall(r"pid (\d+)", output.read_text())[-1])


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stays_up_until_it_is_told_to_stop_and_leaves_nothing_behind(shell: CommandLine, requests: Path, tmp_path: Path, number: signal.Signals) -> None:
    output = tmp_path / "output"
    process, says = started(shell, requests, output)
    try:
        # Its last line: a signal right behind the first would cut the rest off.
        wait_until(lambda: says(" --help\n") or process.poll() is not None, 240, "up shows how to go on")
        pids = [int(pid) for pid in re.findall(r"pid (\d+)", output.read_text())]
        assert len(pids) == 2  # the delay forwarder and the worker
        assert not any(gone(pid) for pid in pids)
        process.send_signal(number)
        assert process.wait(120) == 0, output.read_text()
        wait_until(lambda: all(gone(pid) for pid in pids), 10, "worker and forwarder are gone")
    finally:
        process.kill()
    assert "Traceback" not in output.read_text()
    assert "export QR_BROKER=" in output.read_text()


def test_a_killed_worker_is_started_again_and_nothing_is_missing(shell: CommandLine, requests: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    process, says = started(shell, requests, output)
    try:
        wait_until(lambda: says("worker    pid "), 120, "the worker is started")
        os.kill(worker_pid(output), signal.SIGKILL)
        wait_until(lambda: says("ended with signal SIGKILL; started again as pid ") or process.poll() is not None, 120, "up says so")
        wait_until(lambda: says("everything runs until Ctrl-C") or process.poll() is not None, 240, "every request has its outcome")
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0, output.read_text()
    finally:
        process.kill()
    assert re.search(r"completed rendered +4 ", output.read_text())


def test_when_up_is_killed_its_worker_goes_too(shell: CommandLine, requests: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    process, says = started(shell, requests, output)
    wait_until(lambda: says("worker    pid ") or process.poll() is not None, 120, "the worker is started")
    pid = worker_pid(output)
    process.kill()
    process.wait(30)
    wait_until(lambda: gone(pid), 60, "the worker is gone")


def test_a_worker_that_must_not_be_started_again_ends_it_with_the_workers_code_and_reason(shell: CommandLine, requests: Path, tmp_path: Path) -> None:
    folder = tmp_path / "up"
    folder.mkdir()
    (folder / "worker").write_text("in the way of the worker's folder")
    began = time.monotonic()
    done = shell.run("up", str(requests), "--once")
    assert done.returncode == 67, done.stdout + done.stderr
    assert done.stderr.splitlines()[-1].startswith("error worker: the worker ended with code 67 (")
    assert time.monotonic() - began < 200
    assert "Traceback" not in done.stdout + done.stderr
