"""Publish, tail and show against a running worker."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from processors.partitioner import partition_for
from streams.client import Outcome, RenderClient, new_request, new_submission
from streams.exit_codes import ExitCode
from streams.local_run.worker_process import WorkerProcess
from streams.settings import Settings
from streams.topics import INTAKE, REQUESTED
from tests.support.artifact_check import content_of
from tests.support.broker import unique_names
from tests.support.command_line import COMMAND, CommandLine, json_lines
from tests.support.independent_hash import content_hash
from tests.support.publisher import Publisher, request
from tests.support.submissions import Submitter, json_record

pytestmark = pytest.mark.integration

REQUESTS = [
    {"request_id": "plain", "content": "https://example.com/table/7", "note": "a comment"},
    {"request_id": "again", "content": "https://example.com/table/7", "format": "PNG", "scale": 8.0},
    {"request_id": "bytes", "content_base64": "/wCA", "format": "svg"},
    {"request_id": "empty", "content": ""},
    {"request_id": "surrogate", "content": "\ud800"},
    {"request_id": "too-long", "content": "x" * 3000},
    {"request_id": "wrong-member", "content": "a", "colour": "red"},
]


class Stream:
    """One worker that has answered REQUESTS, and a letter."""

    def __init__(self, broker: str, folder: Path) -> None:
        names = unique_names()
        self.settings = Settings(broker=broker, topic_prefix=names.topic_prefix, app_id=names.app_id, partitions=2, output_partitions=2)  # type: ignore[call-arg]
        environment = {"QR_TOPIC_PREFIX": names.topic_prefix, "QR_APP_ID": names.app_id, "QR_PARTITIONS": "2", "QR_OUTPUT_PARTITIONS": "2"}
        self.shell = CommandLine({"QR_BROKER": broker, **environment})
        self.shell.run("topics", "create").check_returncode()
        self.worker = WorkerProcess(broker=broker, data_dir=folder / "worker", log=folder / "worker.log", environment=environment)
        self.file = folder / "requests.jsonl"
        self.file.write_text("".join(json.dumps(request) + "\n" for request in REQUESTS))


@pytest.fixture(scope="module")
def stream(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    made = Stream(broker, tmp_path_factory.mktemp("stream"))
    made.worker.start()
    yield made
    made.worker.stop()


@pytest.fixture(scope="module")
def published(stream: Stream) -> subprocess.CompletedProcess[str]:
    """The file published once, and every outcome there."""
    with RenderClient(stream.settings) as client:
        outcomes = client.outcomes(until_idle=200)
        done = stream.shell.run("publish", str(stream.file), "--json")
        missing = {"plain", "again", "bytes", "empty", "too-long"}
        for outcome in outcomes:
            missing.discard(outcome.request_id)
            if not missing:
                break
        assert not missing, stream.worker.said()[-2000:]
    return done


def tailed(stream: Stream, which: str) -> list[dict[str, Any]]:
    done = stream.shell.run("tail", which, "--json", "--from-beginning", "--until-idle", "3")
    assert done.returncode == 0, done.stderr
    return json_lines(done.stdout)


def test_publish_counts_what_it_refuses_and_sends_the_rest(published: subprocess.CompletedProcess[str]) -> None:
    assert published.returncode == ExitCode.INCOMPLETE
    assert json.loads(published.stdout) == {"requests": 7, "published": 5, "failed": 2, "failed_by_code": {"invalid_request": 1, "invalid_content": 1}}
    said = published.stderr.splitlines()
    assert len(said) == 2
    assert any(line.startswith("error invalid_content: line 5: ") for line in said)
    assert any(line.startswith("error invalid_request: line 7: a request has no member 'colour'") for line in said)


@pytest.mark.usefixtures("published")
def test_tail_completed_has_artifact_and_hash_of_each_request(stream: Stream) -> None:
    completed = {event["request_id"]: event for event in tailed(stream, "completed")}
    assert set(completed) >= {"plain", "again", "bytes"}
    plain, again, binary = completed["plain"], completed["again"], completed["bytes"]
    assert plain["content_hash"] == again["content_hash"] == content_hash(request("https://example.com/table/7", ""))
    assert plain["artifact_base64"] == again["artifact_base64"]
    assert {plain["source"], again["source"]} == {"rendered", "cache"}
    artifact = base64.b64decode(plain["artifact_base64"])
    assert content_of(artifact, plain["media_type"]) == b"https://example.com/table/7"
    assert hashlib.sha256(artifact).hexdigest() == plain["checksum"]
    assert content_of(base64.b64decode(binary["artifact_base64"]), "image/svg+xml") == b"\xff\x00\x80"


@pytest.mark.usefixtures("published")
def test_tail_failed_has_code_and_message(stream: Stream) -> None:
    failed = {event["request_id"]: event for event in tailed(stream, "failed")}
    assert failed["empty"]["error_code"] == "content_empty"
    assert failed["empty"]["content_hash"] is None
    assert failed["too-long"]["error_code"] == "content_too_long"
    assert failed["too-long"]["content_hash"] is not None


@pytest.mark.usefixtures("published")
def test_tail_dlq_has_the_untouched_bytes_and_the_reason(stream: Stream) -> None:
    publisher = Publisher(stream.settings.broker or "", REQUESTED.full_name(stream.settings))
    publisher.publish_bytes(b"some key", b"\x00not avro")
    letters: list[dict[str, Any]] = []
    for _ in range(20):
        letters = tailed(stream, "dlq")
        if letters:
            break
    (letter,) = letters
    assert letter["reason"] == "undecodable"
    assert base64.b64decode(letter["value_base64"]) == b"\x00not avro"
    assert base64.b64decode(letter["key_base64"]) == b"some key"
    assert letter["source_topic"] == REQUESTED.full_name(stream.settings)


@pytest.mark.usefixtures("published")
def test_show_finds_row_and_artifact_of_a_hash(stream: Stream, tmp_path: Path) -> None:
    name = content_hash(request("https://example.com/table/7", ""))
    file = tmp_path / "code.png"
    as_json = stream.shell.run("show", name, "--json")
    told = stream.shell.run("show", name, "-o", str(file))
    row = json.loads(as_json.stdout)
    assert (row["status"], row["expired"], row["format"]) == ("ready", False, "png")
    assert base64.b64decode(row["artifact_base64"]) == file.read_bytes()
    assert content_of(file.read_bytes(), "image/png") == b"https://example.com/table/7"
    assert "status        ready" in told.stdout


@pytest.mark.usefixtures("published")
def test_show_tells_of_a_failure_that_is_kept(stream: Stream) -> None:
    row = json.loads(stream.shell.run("show", content_hash(request("x" * 3000, "")), "--json").stdout)
    assert (row["status"], row["error_code"], row["artifact_base64"]) == ("failed", "content_too_long", None)


@pytest.mark.usefixtures("published")
def test_show_of_a_hash_that_was_never_requested_is_one_line_and_code_1(stream: Stream) -> None:
    done = stream.shell.run("show", "0" * 64)
    assert done.returncode == ExitCode.INCOMPLETE
    assert done.stderr == f"error not_found: nothing is stored under {'0' * 64}; it was never requested here\n"


@pytest.mark.usefixtures("published")
def test_tail_into_a_reader_that_leaves_is_quiet(stream: Stream) -> None:
    command = " ".join([*COMMAND, "tail", "completed", "--json", "--from-beginning", "--until-idle", "3"])
    done = subprocess.run(["bash", "-c", f"{command} | head -1"], env=stream.shell.environment, capture_output=True, text=True, timeout=120, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_publish_to_topics_that_are_not_there_says_so_at_once(stream: Stream) -> None:
    done = stream.shell.run("publish", str(stream.file), QR_TOPIC_PREFIX="absent.")
    assert done.returncode == ExitCode.TOPICS
    assert done.stderr == "error topics: topic absent.render.requested does not exist; `qrstream topics create` makes it (or QR_TOPIC_PREFIX names another)\n"


@pytest.mark.usefixtures("published")
def test_the_client_gives_each_outcome_to_who_asked_before_publishing(stream: Stream) -> None:
    with RenderClient(stream.settings) as client:
        outcomes = client.outcomes(until_idle=200)
        sent = client.publish(new_request("from python", format="svg"))
        outcome = next(found for found in outcomes if found.request_id == sent.request_id)
    assert sent.content_hash == content_hash(request("from python", "", format="svg"))
    assert outcome.content_hash == sent.content_hash


def test_what_the_client_submits_twice_has_one_outcome_under_the_id_that_it_is_told(stream: Stream) -> None:
    submission = new_submission("order 17", "submitted from python", format="svg")
    with RenderClient(stream.settings) as client:
        outcomes = client.outcomes(until_idle=200)
        sent, again = client.submit(submission), client.submit(replace(submission, requested_at=5))
        refused = client.submit(new_submission("order 18", "x", scale=-1))
        last = client.submit(new_submission("order 19", "after the others"))
        told: list[Outcome] = []
        while last.request_id not in {outcome.request_id for outcome in told} or refused.request_id not in {outcome.request_id for outcome in told}:
            told.append(next(outcomes))
        told += client.outcomes(from_beginning=True, until_idle=3)
    assert (sent.request_id, sent.content_hash) == (again.request_id, content_hash(request("submitted from python", "", format="svg")))
    assert (refused.content_hash, sent.offset) == (None, again.offset - 1)
    assert len({outcome.event_id for outcome in told if outcome.request_id == sent.request_id}) == 1
    assert len({outcome.event_id for outcome in told if outcome.idempotency_key == "order 18"}) == 1


def test_a_file_published_twice_to_the_intake_is_rendered_once(stream: Stream) -> None:
    lines = "".join(json.dumps({"request_id": f"line {number}", "content": f"intake {number}"}) + "\n" for number in range(3))
    with RenderClient(stream.settings) as client:
        outcomes = client.outcomes(until_idle=200)
        for _ in range(2):
            done = stream.shell.run("publish", "-", "--intake", stdin=lines)
            assert (done.returncode, done.stdout) == (0, f"3 of 3 requests published to {INTAKE.full_name(stream.settings)}\n")
        last = client.submit(new_submission("behind the file", "intake last"))
        keys: list[str | None] = []
        for outcome in outcomes:
            keys.append(outcome.idempotency_key)
            if set(keys) >= {"line 0", "line 1", "line 2", last.idempotency_key}:
                break
        keys += [outcome.idempotency_key for outcome in client.outcomes(until_idle=3)]
    assert sorted(keys, key=str) == ["behind the file", "line 0", "line 1", "line 2"]


def test_a_letter_of_the_intake_is_replayed_to_the_intake_and_completes(stream: Stream) -> None:
    lost = json_record({"idempotency_key": "sent round twice", "content": "letter of the intake"})
    away = 1 - partition_for(lost.key or b"", 2)
    with RenderClient(stream.settings) as client:
        outcomes = client.outcomes(until_idle=200)
        topic = INTAKE.full_name(stream.settings)
        Submitter(stream.settings.broker or "", topic).publish([replace(lost, headers=(*lost.headers, ("qr-rerouted", b"0")), partition=away)])
        failed = next(outcome for outcome in outcomes if outcome.idempotency_key == "sent round twice")
        assert (failed.error_code, failed.generation) == ("wrong_partition", 0)  # type: ignore[union-attr]
        look = stream.shell.run("dlq", "replay", "--reason", "wrong_partition")
        assert f"1 open letter would be replayed to {topic}: wrong_partition 1" in look.stdout
        assert stream.shell.run("dlq", "replay", "--reason", "wrong_partition", "--yes").returncode == 0
        completed = next(outcome for outcome in outcomes if outcome.idempotency_key == "sent round twice")
    assert (completed.generation, completed.content_hash) == (1, content_hash(request("letter of the intake", "")))
    assert stream.shell.run("dlq", "list", "--reason", "wrong_partition").stdout == "no open dead letters fit\n"
