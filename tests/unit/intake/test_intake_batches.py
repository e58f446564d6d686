"""What a batch of submissions does: the ownership is scripted, the decisions are real."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast

import pytest

from processors.partitioner import partition_for
from processors.submission import Identity
from schemas.codec import Codec
from schemas.events import ClaimRow, RenderFailed, RenderRequested
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.micro_batch import run_micro_batch
from streams.intake.decider import IntakeDecider
from streams.ownership.batch import OutgoingRecord
from streams.ownership.errors import OutputTooLarge, StateUnusable
from streams.ownership.expiring_rows import expiring, without_expiry
from streams.ownership.ownership import Ownership
from streams.rendering.journal import Journal
from streams.settings import SettingsError, load_settings
from tests.support.memory_owner import MemoryOwnership

CODEC = Codec()
TRACE = ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
APPENDED = 1_700_000_000_123


class ScriptedOwnership(MemoryOwnership):
    """A partition of the intake."""

    def __init__(self, executor: Executor, *script: BaseException, partition: int = 0) -> None:
        super().__init__(executor, list(script), partition=partition, agent="intake")

    def claimed(self, key: str) -> ClaimRow:
        return CODEC.decode(without_expiry(self.rows[b"claim/default\x00" + key.encode()]), ClaimRow)

    @property
    def sent(self) -> list[OutgoingRecord]:
        return [record for batch in self.committed for record in batch.records]

    def by_topic(self, topic: str) -> list[OutgoingRecord]:
        return [record for record in self.sent if record.topic == f"qr.render.{topic}"]


@pytest.fixture
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def submission(offset: int, key: str = "k", *, headers: tuple[tuple[str, bytes | None], ...] = (), record_key: bytes | None = None, **members: Any) -> DeliveredEvent:
    value = json.dumps({"idempotency_key": key, "content": "x", **members}).encode()
    return DeliveredEvent(offset, offset, 3, record_key or Identity("default", key).key, value, headers, APPENDED)


async def run(owner: ScriptedOwnership, *events: DeliveredEvent, **settings: Any) -> None:
    of = load_settings(broker="127.0.0.1:1", **{"partitions": 1, **settings})
    assert await run_micro_batch(cast(Ownership, owner), IntakeDecider(of, CODEC, threading.Lock(), Journal(Path(mkdtemp(prefix="qrstream-journal-")))), list(events), lambda: True)


async def test_a_submission_becomes_a_request_and_a_claim_in_one_transaction(executor: Executor) -> None:
    owner = ScriptedOwnership(executor)
    headers = (("content-type", b"application/json"), TRACE, ("tracestate", b"a=1"), ("ce_id", b"theirs"), ("qr-attempt", b"9"), ("x", None))
    await run(owner, submission(0, headers=headers, deliver="reference", deadline=5))
    [record] = owner.sent
    request = CODEC.decode(record.value, RenderRequested)
    row = owner.claimed("k")
    assert (record.topic, record.key, record.partition) == ("qr.render.requested", (row.content_hash or "").encode(), 0)
    assert (request.request_id, request.idempotency_key, request.deliver, request.deadline) == (row.request_id, "k", "reference", 5)
    assert request.requested_at == APPENDED
    assert (row.state, row.error_code, row.generation) == ("forwarded", None, 0)
    sent = dict(record.headers or [])
    assert sent["ce_id"] == request.request_id.encode()
    assert (sent["traceparent"], sent["tracestate"], sent["x"]) == (TRACE[1], b"a=1", None)
    assert [name for name, _ in record.headers or [] if name in ("content-type", "ce_id")] == ["ce_id", "content-type"]
    assert not [name for name in sent if name.startswith("qr-")]


async def test_a_publishers_own_time_is_kept(executor: Executor) -> None:
    owner = ScriptedOwnership(executor)
    await run(owner, submission(0, requested_at=17))
    assert CODEC.decode(owner.sent[0].value, RenderRequested).requested_at == 17


async def test_a_request_goes_to_the_partition_of_its_hash(executor: Executor) -> None:
    for number in range(20):
        key = f"k{number}"
        owner = ScriptedOwnership(executor, partition=partition_for(Identity("default", key).key, 8))
        await run(owner, submission(0, key, content=f"c{number}"), partitions=8)
        [record] = owner.sent
        assert record.key is not None
        assert record.partition == partition_for(record.key, 8)


async def test_a_repeat_and_a_conflict_inside_one_batch_see_the_claim_of_the_first(executor: Executor) -> None:
    owner = ScriptedOwnership(executor)
    await run(owner, submission(0), submission(1), submission(2, content="y"), submission(3, "other", content="y"))
    assert [record.origin for record in owner.by_topic("requested")] == [0, 3]
    [conflict] = owner.by_topic("failed")
    event = CODEC.decode(conflict.value, RenderFailed)
    assert (conflict.origin, event.error_code, event.content_hash) == (2, "idempotency_conflict", owner.claimed("other").content_hash)
    assert event.request_id not in (owner.claimed("k").request_id, owner.claimed("other").request_id)


async def test_a_replay_carries_its_generation_on_and_is_answered_once(executor: Executor) -> None:
    owner = ScriptedOwnership(executor)
    replayed = (("qr-generation", b"1"),)
    await run(owner, submission(0), submission(1, headers=replayed), submission(2, headers=replayed))
    assert [dict(record.headers or []).get("qr-generation") for record in owner.by_topic("requested")] == [None, b"1"]


async def test_a_misplaced_submission_goes_home_under_its_right_key_with_its_bytes(executor: Executor) -> None:
    home = partition_for(Identity("default", "k").key, 8)
    owner = ScriptedOwnership(executor, partition=(home + 1) % 8)
    sent = submission(0, record_key=b"odd")
    await run(owner, sent, partitions=8)
    [record] = owner.sent
    assert (record.topic, record.key, record.value, record.partition) == ("qr.render.intake", b"default\x00k", sent.value, home)
    assert record.headers == [("qr-rerouted", b"%d" % owner.claim.partition)]
    assert [key for key in owner.rows if not key.startswith(b"position/")] == []


async def test_a_wrong_key_in_the_right_partition_is_taken_as_it_is(executor: Executor) -> None:
    owner = ScriptedOwnership(executor)
    await run(owner, submission(0, record_key=b"odd"))
    assert [record.topic for record in owner.sent] == ["qr.render.requested"]


async def test_a_request_too_large_for_its_topic_fails_with_a_letter_and_a_claim(executor: Executor) -> None:
    owner = ScriptedOwnership(executor, OutputTooLarge(1))
    await run(owner, submission(0, "a"), submission(1, "b"), submission(2, "c"), submission(3, "b"))
    assert [record.origin for record in owner.by_topic("requested")] == [0, 2]
    [failed], [letter] = owner.by_topic("failed"), owner.by_topic("dlq")
    assert CODEC.decode(failed.value, RenderFailed).error_code == "request_too_large"
    assert letter.value is None
    assert dict(letter.headers or [])["qr-dlq-request-id"] == owner.claimed("b").request_id.encode()
    assert owner.claimed("b").error_code == "request_too_large"


async def test_an_undecodable_letter_too_large_goes_without_its_value(executor: Executor) -> None:
    owner = ScriptedOwnership(executor, OutputTooLarge(0))
    await run(owner, DeliveredEvent(0, 0, 3, b"key", b"neither form", ()))
    [letter] = owner.sent
    assert (letter.topic, letter.value) == ("qr.render.dlq", None)


async def test_a_letter_too_large_without_its_value_is_no_loop(executor: Executor) -> None:
    owner = ScriptedOwnership(executor, OutputTooLarge(0), OutputTooLarge(0))
    with pytest.raises(StateUnusable):
        await run(owner, DeliveredEvent(0, 0, 3, b"key", b"neither form", ()))


@pytest.mark.parametrize("request_ttl", [100.0, 86_400.0])
def test_a_claim_that_could_end_before_its_request_is_refused_with_the_numbers(request_ttl: float) -> None:
    least = request_ttl + 671 * 1.2 + 10
    assert load_settings(request_ttl=request_ttl, claim_ttl=least).claim_ttl == least
    with pytest.raises(SettingsError) as refusal:
        load_settings(request_ttl=request_ttl, claim_ttl=least - 1)
    assert f"QR_CLAIM_TTL={least - 1:g}: must be at least {least:g}, which is QR_REQUEST_TTL={request_ttl:g} plus 805.2" in str(refusal.value)


def test_the_default_claim_outlives_the_default_request() -> None:
    defaults = load_settings()
    assert defaults.claim_ttl > defaults.request_ttl


async def test_a_claim_past_its_time_is_swept(executor: Executor) -> None:
    owner = ScriptedOwnership(executor)
    await run(owner, submission(0))
    (claim,) = [key for key in owner.rows if key.startswith(b"claim/")]
    owner.rows[claim] = expiring(without_expiry(owner.rows[claim]), 5)
    owner.reindex()
    owner.chores = True
    await run(owner, submission(1, "other"))
    assert claim not in owner.rows
    assert any(key.startswith(b"claim/") for key in owner.rows)
