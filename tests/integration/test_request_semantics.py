"""What users see of requests under way, on a real broker: status, invalidation, expiry, tenants, poison."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.independent_hash import content_hash
from tests.support.outcome_reader import topic_records
from tests.support.publisher import contents, request
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]


def shell_of(stream: StreamRun, **settings: str) -> CommandLine:
    return CommandLine({**stream.environment, "QR_DATA_DIR": str(stream.folder / "shell"), **settings})


def status(shell: CommandLine, request_id: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shell.run("status", request_id, "--hash", name, "--json").stdout)
    return found


def test_the_status_of_a_request_from_pending_to_ready(new_stream: NewStream, tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir()
    settings = {"QR_ARTIFACT_STORE": (tmp_path / "artifacts").as_uri(), "QR_FAULT_STORE_RATE": "1", "QR_RETRY_DELAYS": "0.5,1,1,1"}
    stream = new_stream(**settings)
    shell = shell_of(stream, **settings)
    fields = request("status", "r-1")
    name = content_hash(fields)
    stream.publisher.publish_requests([fields])
    assert status(shell, "r-1", name)["status"] == "pending"
    worker = stream.start()
    stream.wait(stream.caught_up, "it is taken", DEADLINE_S, worker)
    seen = status(shell, "r-1", name)
    assert (seen["status"], seen["attempts"], seen["error_code"]) == ("processing", 1, "store_unavailable")
    assert seen["next_attempt_at"] > 0
    worker.kill()
    worker, forwarder = stream.start(environment={"QR_FAULT_STORE_RATE": "0"}), stream.start_forwarder()
    stream.wait_all(worker, forwarder)
    seen = status(shell, "r-1", name)
    assert (seen["status"], seen["attempts"]) == ("ready", 2)
    assert Path(seen["result_ref"].removeprefix("file://")).is_file()
    # The same from the artifact store through `show`.
    assert json.loads(shell.run("show", name, "--json").stdout)["artifact_base64"]
    unknown = shell.run("status", "nobody", "--hash", name)
    assert unknown.returncode == 1
    assert unknown.stderr.startswith("error not_found: ")
    stream.exactly_once(renders=1)


def test_an_invalidated_hash_and_an_invalidated_profile_are_rendered_anew(stream: StreamRun) -> None:
    worker = stream.start()
    shell = shell_of(stream)
    fields = [request(f"c{number}", f"first-{number}") for number in range(8)]
    stream.publisher.publish_requests(fields)
    stream.wait_all(worker)
    assert shell.run("invalidate", content_hash(fields[0])).returncode == 0
    stream.publisher.publish_requests([{**one, "request_id": f"second-{number}"} for number, one in enumerate(fields)])
    stream.wait_all(worker)
    assert shell.run("invalidate", "--profile", "qr-1").returncode == 0
    stream.publisher.publish_requests([{**one, "request_id": f"third-{number}"} for number, one in enumerate(fields)])
    stream.wait_all(worker)
    verdict = stream.exactly_once(renders=8 + 1 + 8)
    assert verdict.by_source == {"rendered": 17, "cache": 7}


def test_expired_rows_leave_the_table_and_the_changelog_on_idle_partitions_too(new_stream: NewStream) -> None:
    stream = new_stream(QR_RESULT_TTL="3", QR_STALE_WINDOW="0", QR_REQUEST_TTL="3", QR_FAILURE_TTL="3")
    worker = stream.start()
    stream.publisher.publish(contents(60, 20))
    stream.wait_all(worker)

    def live() -> dict[bytes, bytes]:
        rows: dict[bytes, bytes] = {}
        for record in topic_records(stream.bootstrap, {stream.changelog: PARTITIONS}):
            key = bytes(record.key() or b"")
            rows.pop(key, None)
            if (value := record.value()) is not None and not key.startswith(b"position/"):
                rows[key] = value
        return rows

    # The broker's clock is learnt from a commit a minute on idle partitions.
    stream.wait(lambda: not live(), "every row but the positions is deleted", 150, worker)
    stream.publisher.publish(contents(20, 20))
    stream.wait_all(worker)
    verdict = stream.verdict()
    assert not verdict.faults
    assert verdict.encoder_calls == 40


def test_tenants_apart_share_nothing(new_stream: NewStream) -> None:
    stream = new_stream(QR_ISOLATION="tenant")
    shell = shell_of(stream)
    lines = "\n".join(json.dumps({"request_id": "same", "tenant": tenant, "content": "same"}) for tenant in ("a", "b"))
    assert shell.run("publish", "-", stdin=lines).returncode == 0
    worker = stream.start()
    stream.wait_outcomes(2, worker)
    outcomes = stream.outcomes.to_end()
    assert sorted(outcome.fields["tenant"] for outcome in outcomes) == ["a", "b"]
    assert [outcome.fields["source"] for outcome in outcomes] == ["rendered", "rendered"]
    assert len({outcome.fields["content_hash"] for outcome in outcomes}) == 2


@pytest.mark.parametrize("how", ["segfault", *(pytest.param(how, marks=pytest.mark.long) for how in ("exit", "memory"))])
def test_a_content_whose_render_kills_is_dead_lettered_and_the_others_go_on(new_stream: NewStream, how: str) -> None:
    poison = request("poison", "bad")
    stream = new_stream(QR_FAULT_RENDER_CRASH=how, QR_FAULT_RENDER_HASHES=content_hash(poison))
    stream.publisher.publish_requests([poison], error="renderer_crash")
    stream.publisher.publish(f"sound {number}" for number in range(30))
    worker = stream.start()
    stream.wait_all(worker)
    assert stream.exactly_once(renders=30).by_error == {"renderer_crash": 1}
    (letter,) = stream.letters()
    assert dict(letter.headers())["qr-dlq-reason"] == b"renderer_crash"
    assert worker.process.returncode == 0


def test_a_render_without_end_is_cut_off_retried_and_given_up(new_stream: NewStream) -> None:
    poison = request("poison", "bad")
    stream = new_stream(QR_FAULT_RENDER_CRASH="loop", QR_FAULT_RENDER_HASHES=content_hash(poison), QR_RENDER_BOUND="2", QR_RETRY_DELAYS="0.5")
    stream.publisher.publish_requests([poison], error="render_timeout")
    stream.publisher.publish(f"sound {number}" for number in range(30))
    worker, forwarder = stream.start(), stream.start_forwarder()
    stream.wait_all(worker, forwarder)
    assert stream.exactly_once(renders=30).by_error == {"render_timeout": 1}
    assert len(stream.letters()) == 1


def test_a_stampede_at_expiry_with_its_owner_killed_costs_one_committed_render(new_stream: NewStream) -> None:
    stream = new_stream(QR_RESULT_TTL="2", QR_STALE_WINDOW="0", QR_BATCH_RECORDS="100", QR_COMMIT_INTERVAL="60")
    worker = stream.start()
    stream.publisher.publish(["popular"])
    stream.wait_all(worker)
    expires = stream.outcomes.to_end()[0].fields["expires_at"].timestamp()
    stream.wait(lambda: time.time() > expires, "the result has expired", 30)
    worker.kill()
    stream.publisher.publish(["popular"] * 1_000)
    crashed = stream.start("--crash-after", "4-begun", "--nth", "1", environment={"QR_RESULT_TTL": "3600"})
    assert crashed.wait(DEADLINE_S) != 0
    following = stream.start(environment={"QR_RESULT_TTL": "3600"})
    stream.wait_all(following)
    verdict = stream.exactly_once(renders=2)
    assert verdict.aborted > 0
