"""Artifacts in a store outside the table: put once, never rendered twice for its failures, never served unchecked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from processors.artifact_keys import artifact_path
from processors.canonical import identify
from processors.render import Rendered
from schemas.events import Verification
from streams.artifacts.errors import StoreUnavailable
from streams.deciding.side_effects import facts_of, rendered_from
from tests.unit.deciding.partition import BEGIN_MS, Partition


def file_of(partition: Partition, folder: Path) -> Path:
    return folder / artifact_path("qr-1", identify(partition.request(""))[1], "png", None)


def refuse_puts(partition: Partition, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    left = [times]
    original = partition.store.put  # type: ignore[union-attr]

    def put(key: str, artifact: bytes, checksum: str) -> str:
        if left[0] and not key.endswith(".json"):
            left[0] -= 1
            raise StoreUnavailable("the store is away", "connection")
        return original(key, artifact, checksum)

    monkeypatch.setattr(partition.store, "put", put)


def test_the_artifact_lies_in_the_store_and_the_row_says_where(partition_with_folder: Partition, tmp_path: Path) -> None:
    partition = partition_with_folder
    partition.send(partition.request("a"), partition.request("b"))
    partition.send(partition.request("c"))
    row = partition.result()
    assert row is not None
    assert row.result_ref == file_of(partition, tmp_path).as_uri()
    assert partition.keys(b"artifact/") == []
    assert partition.outcomes() == [("a", "rendered"), ("b", "cache"), ("c", "cache")]


def test_a_put_that_failed_is_made_again_and_not_the_render(partition_with_folder: Partition, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = partition_with_folder
    refuse_puts(partition, monkeypatch, 3)
    partition.send(partition.request("a"), partition.request("b"))
    assert len(partition.keys(b"artifact/")) == 1
    for number in range(3):
        partition.bring_back(partition.parked()[number])
    partition.tend()
    assert partition.outcomes() == [("a", "rendered"), ("b", "cache")]
    assert partition.renderer.rendered == 1
    assert partition.keys(b"artifact/") == []


def test_a_store_that_stays_away_fails_the_request_once_its_attempts_are_used_up(partition_with_folder: Partition, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = partition_with_folder
    refuse_puts(partition, monkeypatch, 5)
    partition.send(partition.request("a"))
    for number in range(4):
        partition.bring_back(partition.parked()[number])
    assert partition.outcomes() == [("a", "store_unavailable")]
    partition.send(partition.request("b"))
    assert partition.outcomes()[-1] == ("b", "store_unavailable")
    # A replay asks the store anew, and finds the bytes that the owner has kept.
    partition.send(partition.request("a"), headers=(("qr-generation", b"1"),))
    assert partition.outcomes()[-1] == ("a", "rendered")
    assert partition.renderer.rendered == 1


@pytest.mark.parametrize("damage", ["missing", "corrupt"])
def test_a_ready_row_without_its_object_is_never_served_and_rendered_again_once(partition_with_folder: Partition, tmp_path: Path, damage: str) -> None:
    partition = partition_with_folder
    partition.send(partition.request("a"))
    file = file_of(partition, tmp_path)
    sound = file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        file.chmod(0o644)
        file.write_bytes(b"x" + sound[1:])
    partition.send(partition.request("b"), partition.request("c"))
    partition.send(partition.request("d"))
    assert partition.outcomes() == [("a", "rendered"), ("b", "rendered"), ("c", "cache"), ("d", "cache")]
    assert partition.renderer.rendered == 2
    assert file.read_bytes() == sound


def test_an_artifact_put_by_an_attempt_that_was_not_committed_is_adopted(partition_with_folder: Partition) -> None:
    partition = partition_with_folder
    partition.send(partition.request("a"))
    committed = dict(partition.owner.rows)
    partition.owner.rows.clear()  # as if the transaction had not been
    partition.owner.source_end = 10
    partition.send(partition.request("b"))
    assert partition.outcomes() == [("a", "rendered"), ("b", "rendered")]
    assert partition.renderer.rendered == 1
    row = partition.result()
    assert row is not None
    assert (row.mask, row.version, row.verification) == (partition.decider.stored_result(committed[partition.keys(b"result/")[0]]).row.mask, 1, row.verification)


def test_facts_beside_an_artifact_come_back_equal_and_those_of_an_older_release_without_warnings() -> None:
    facts = Verification(decoder="d/1", contrast_ratio=21.0, quiet_zone_modules=0.0, module_px=8, inverted=False, warnings=("quiet_zone",))
    made = Rendered(b"bytes", "image/png", 1, "m", 0, facts, "segno/1.6.6")
    assert rendered_from(facts_of(made), b"bytes") == made
    older = json.loads(facts_of(made))
    del older["verification"]["warnings"]
    assert rendered_from(json.dumps(older).encode(), b"bytes") == replace(made, verification=replace(facts, warnings=()))


def test_an_expired_row_is_no_reason_to_serve_its_object(partition_with_folder: Partition) -> None:
    partition = partition_with_folder
    partition.send(partition.request("a"))
    partition.now_ms = BEGIN_MS + int((partition.settings.result_ttl * 1.1 + partition.settings.stale_window) * 1000)
    partition.send(partition.request("b"))
    assert partition.outcomes() == [("a", "rendered"), ("b", "rendered")]
    assert partition.renderer.rendered == 2


def test_tenants_kept_apart_have_paths_and_results_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor_of_one: object) -> None:
    partition = Partition(executor_of_one, monkeypatch, artifact_store=tmp_path.as_uri(), isolation="tenant")  # type: ignore[arg-type]
    for tenant in ("a", "b"):
        request = partition.request("r", tenant=tenant)
        name = identify(request, tenants_apart=True)[1]
        partition.deliver((name.encode(), partition.decider.codec.encode(request), ()))
        assert (tmp_path / artifact_path("qr-1", name, "png", tenant)).is_file()
    assert partition.outcomes() == [("r", "rendered"), ("r", "rendered")]


def test_requests_of_one_hash_in_several_transactions_are_rendered_once_and_then_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor_of_one: object) -> None:
    partition = Partition(executor_of_one, monkeypatch, artifact_store=tmp_path.as_uri(), batch_records=2)  # type: ignore[arg-type]
    partition.send(*(partition.request(f"r{number}") for number in range(6)))
    assert len(partition.owner.committed) == 3
    assert partition.outcomes() == [("r0", "rendered"), *((f"r{number}", "cache") for number in range(1, 6))]
