"""The default door on the real stream: one outcome a key, conflicts, tenants, both forms, any key and partition."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from confluent_kafka import Message

from processors.partitioner import partition_for
from tests.support.broker import unique_names
from tests.support.independent_hash import invalid_key
from tests.support.oracle import judge
from tests.support.outcome_reader import Outcome, topic_records
from tests.support.publisher import Expected
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun, stream_run
from tests.support.submissions import (
    AVRO,
    JSON,
    Submitted,
    Submitter,
    as_avro,
    as_json,
    avro_record,
    expected,
    json_record,
    record_key,
)

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]

TRACE = ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
EMOJI_KEY = "🧾 " * 127 + "x"
"""255 characters, 763 bytes."""


@dataclass
class Door:
    """One stream's intake, and what must come out of it."""

    run: StreamRun
    submitter: Submitter
    expected: dict[str, Expected]

    def forward(self, record: Callable[[dict[str, Any]], Submitted], *submissions: dict[str, Any]) -> None:
        """Publish submissions that are forwarded, each with one outcome."""
        for fields in submissions:
            wanted = expected(fields)
            self.expected[wanted.request_id] = wanted
        self.submitter.publish([record(fields) for fields in submissions])

    def caught_up(self) -> bool:
        """Whether the group's offsets lie behind every submission and every request that was made of one."""
        # Offsets before ends: what a decided submission has caused lies below an end that is read afterwards.
        for topic in (self.run.intake, self.run.requested):
            committed = self.run.committed_offsets(topic)
            if any(committed[p] < end for p, end in record_ends(self.run, topic).items()):
                return False
        return True

    def settle(self, *alive: Any) -> None:
        """Until nothing is under way."""
        self.run.wait(self.caught_up, "every submission and request is decided", DEADLINE_S, *alive)

    def outcomes(self) -> list[Outcome]:
        """All outcomes; those of forwarded submissions are what the oracle asks for, one each."""
        found = self.run.outcomes.to_end()
        verdict = judge(self.expected, set(), [o for o in found if not o.fields["request_id"].startswith("refused-")])
        assert not verdict.faults, f"{verdict.faults}\n{self.run.rerun()}"
        return found


def record_ends(run: StreamRun, topic: str) -> dict[int, int]:
    """Offset behind the last record of each partition that has one; only commit markers follow it."""
    ends: dict[int, int] = {}
    for message in topic_records(run.bootstrap, {topic: PARTITIONS}):
        ends[message.partition() or 0] = (message.offset() or 0) + 1
    return ends


def door_of(run: StreamRun) -> Door:
    return Door(run, Submitter(run.bootstrap, run.intake), {})


def refused(outcomes: list[Outcome], key: str, tenant: str = "default") -> list[Outcome]:
    """Refusals that name a client's key."""
    found = [o for o in outcomes if o.fields["idempotency_key"] == key and o.fields["tenant"] == tenant]
    return [o for o in found if o.fields["request_id"].startswith("refused-")]


@dataclass(frozen=True)
class Told:
    """Everything that came of the records of `submit_everything`."""

    outcomes: list[Outcome]
    letters: list[Message]
    requests: list[Message]
    log: str
    counted: dict[str, int]

    def of(self, key: str, tenant: str = "default") -> list[Outcome]:
        return [o for o in self.outcomes if o.fields["idempotency_key"] == key and o.fields["tenant"] == tenant]


UNDECODABLE = {
    "no json": Submitted(b"k1", b"{ no json", tuple(JSON)),
    "avro called json": Submitted(b"k2", as_avro({"idempotency_key": "k2", "content": "x"}), tuple(JSON)),
    "json called avro": Submitted(b"k3", as_json({"idempotency_key": "k3", "content": "x"}), tuple(AVRO)),
    "neither": Submitted(b"k4", b"<xml/>", ()),
    "a member twice": Submitted(b"k5", b'{"content": "a", "content": "b", "idempotency_key": "k5"}', ()),
    "no value": Submitted(b"k6", None, ()),
    "no UTF-8": Submitted(b"k7", b'{"content": "\xff"}', tuple(JSON)),
    "cut short": Submitted(b"k8", as_avro({"idempotency_key": "k8", "content": "x"})[:-1], tuple(AVRO)),
}


def submit_everything(door: Door) -> None:
    """Records of every kind; forwarded ones are noted in the door."""
    plain = {"idempotency_key": "plain json", "content": "https://example.com/json"}
    door.forward(json_record, plain)
    door.forward(avro_record, {"idempotency_key": "plain avro", "content": "https://example.com/avro"})
    door.forward(lambda fields: replace(json_record(fields), headers=()), {"idempotency_key": "json by its bytes", "content": "x"})
    door.forward(lambda fields: replace(avro_record(fields), headers=()), {"idempotency_key": "avro by its bytes", "content": "x"})
    door.forward(json_record, {"idempotency_key": "bytes", "content": b"\x00\xff\x80", "format": "SVG", "margin": 2, "dark": "#123"})
    door.forward(json_record, {"idempotency_key": EMOJI_KEY, "content": "255"}, {"idempotency_key": "with\0NUL", "content": "NUL"})
    door.forward(avro_record, {"idempotency_key": " spaces ", "content": "spaces"}, {"idempotency_key": "k", "tenant": "a\U0001f600 b", "content": "tenant"})
    # One intent said twice, in another form, with other spellings and another time.
    once = {"idempotency_key": "said twice", "content": "Grüße", "format": "png", "dark": "#000"}
    again = {**once, "content": "Grüße".encode(), "format": "PNG", "dark": "#000000", "requested_at": 17}
    door.forward(json_record, once)
    door.submitter.publish([avro_record(again), json_record(again), json_record(once)])
    # The first payload stands.
    door.forward(json_record, {"idempotency_key": "conflict", "content": "first"})
    door.submitter.publish([json_record({"idempotency_key": "conflict", "content": "second"})])
    door.submitter.publish([avro_record({"idempotency_key": "conflict", "content": "first", "deliver": "reference"})])
    # Tenants never meet.
    door.forward(json_record, *({"idempotency_key": "shared", "tenant": tenant, "content": f"for {tenant}"} for tenant in ("a", "b", "c")))
    # A wrong partition, a wrong key, none; each with its headers.
    elsewhere = {"idempotency_key": "elsewhere", "content": "elsewhere"}
    right = json_record(elsewhere)
    door.forward(lambda _: replace(right, headers=(*JSON, TRACE, ("x-theirs", b"\x00")), partition=(home_of(right) + 1) % PARTITIONS), elsewhere)
    door.forward(lambda fields: replace(json_record(fields), key=b"some other key"), {"idempotency_key": "wrong key", "content": "x"})
    door.forward(lambda fields: replace(avro_record(fields), key=None), {"idempotency_key": "no key", "content": "x"})
    # Sent round a second time.
    lost = {"idempotency_key": "round again", "content": "x"}
    placed = json_record(lost)
    door.submitter.publish([replace(placed, headers=(*JSON, ("qr-rerouted", b"0")), partition=(home_of(placed) + 1) % PARTITIONS)])
    # Refused, each twice: the second time nothing comes of it.
    for fields in (
        {"idempotency_key": "negative scale", "content": "x", "scale": -1.0},
        {"idempotency_key": "no content"},
        {"idempotency_key": "surrogate", "content": "a\ud800"},
        {"idempotency_key": "unknown member", "content": "x", "colour": "red"},
        {"idempotency_key": "wrong type", "content": "x", "boost": "yes"},
        {"idempotency_key": "two contents", "content": "x", "content_base64": "eA=="},
        {"idempotency_key": "too large", "content": "x" * (1 << 20)},
    ):
        value = json.dumps(fields).encode()
        door.submitter.publish([Submitted(record_key(fields), value, tuple(JSON))] * 2)
    # Nobody's intent.
    door.submitter.publish([json_record({"idempotency_key": "x" * 256, "content": "x"})] * 2)
    door.submitter.publish([json_record({"idempotency_key": "tenant with NUL", "tenant": "a\0b", "content": "x"})])
    door.submitter.publish([Submitted(b"k", b'{"content": "keyless"}', tuple(JSON))])
    door.submitter.publish(UNDECODABLE.values())


def home_of(record: Submitted) -> int:
    """Where a record belongs."""
    assert record.key is not None
    return partition_for(record.key, PARTITIONS)


@pytest.fixture(scope="module")
def told(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with stream_run(broker, unique_names(), tmp_path_factory.mktemp("intake")) as run:
        worker = run.start("--agent", "intake")
        door = door_of(run)
        submit_everything(door)
        door.settle(worker)
        run.end()
        outcomes = door.outcomes()
        lines = worker.log_lines()
        counted: dict[str, int] = {}
        for line in lines:
            if line["event"] == "batch_committed" and line["agent"] == "intake":
                for kind in ("rerouted", "dead_letter"):
                    counted[kind] = counted.get(kind, 0) + line.get(kind, 0)
        yield Told(outcomes, run.letters(), topic_records(run.bootstrap, {run.requested: PARTITIONS}), worker.log.read_text(), counted)


def test_every_forwarded_submission_has_one_outcome_that_says_its_content(told: Told) -> None:
    # The oracle has judged them all in the fixture; here are those that it was asked for.
    completed = [o for o in told.outcomes if o.kind == "completed"]
    assert len(completed) == 17
    assert len({o.fields["request_id"] for o in completed}) == 17
    assert len(told.requests) == 17


@pytest.mark.parametrize("key", ["plain json", "plain avro", "json by its bytes", "avro by its bytes", "bytes", EMOJI_KEY, "with\0NUL", " spaces "])
def test_both_forms_and_keys_of_any_characters_come_back_with_the_key_as_it_was(told: Told, key: str) -> None:
    assert [o.kind for o in told.of(key)] == ["completed"]


def test_the_same_intent_in_other_words_makes_no_second_event(told: Told) -> None:
    assert [o.kind for o in told.of("said twice")] == ["completed"]


def test_another_payload_under_the_key_is_a_conflict_and_the_first_stands(told: Told) -> None:
    [first] = [o for o in told.of("conflict") if o.kind == "completed"]
    conflicts = [o for o in told.of("conflict") if o.kind == "failed"]
    assert [o.fields["error_code"] for o in conflicts] == ["idempotency_conflict"] * 2
    ids = {o.fields["request_id"] for o in conflicts}
    assert len(ids) == 2
    assert first.fields["request_id"] not in ids
    assert all(first.fields["request_id"] in o.fields["message"] for o in conflicts)
    assert {o.key for o in conflicts} == {o.fields["content_hash"].encode() for o in conflicts}


def test_tenants_never_meet(told: Told) -> None:
    for tenant in "abc":
        assert [(o.kind, o.fields["tenant"]) for o in told.of("shared", tenant)] == [("completed", tenant)]


def test_what_lies_in_the_wrong_partition_is_routed_once_and_counted(told: Told) -> None:
    for key in ("elsewhere", "wrong key", "no key"):
        assert [o.kind for o in told.of(key)] == ["completed"]
    # The wrong and the missing key may have fallen into the right partition by luck.
    assert 1 <= told.counted["rerouted"] <= 3


def test_a_request_has_its_hash_as_key_its_own_partition_and_the_publishers_headers(told: Told) -> None:
    for message in told.requests:
        headers = dict(message.headers() or [])
        key = message.key()
        assert isinstance(key, bytes)
        assert headers["ce_type"] == b"qr.render.v1.RenderRequested"
        assert headers["ce_subject"] == key
        identity = headers["ce_id"]
        assert isinstance(identity, bytes)
        assert identity.startswith(key + b"-")
        assert headers["content-type"] == b"application/avro"
    [routed] = [dict(m.headers() or []) for m in told.requests if TRACE in (m.headers() or [])]
    assert routed["x-theirs"] == b"\x00"
    assert "qr-rerouted" not in routed


def test_a_second_time_in_the_wrong_partition_is_a_dead_letter(told: Told) -> None:
    assert [o.fields["error_code"] for o in told.of("round again")] == ["wrong_partition"]
    [letter] = [letter for letter in told.letters if ("qr-dlq-reason", b"wrong_partition") in (letter.headers() or [])]
    assert letter.value() == as_json({"idempotency_key": "round again", "content": "x"})


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("negative scale", "invalid_option"), ("no content", "content_empty"), ("surrogate", "invalid_content"),
        ("unknown member", "unknown_member"), ("wrong type", "invalid_option"), ("two contents", "invalid_option"),
        ("too large", "request_too_large"),
    ],
)
def test_a_submission_without_a_canonical_form_fails_once_however_often_it_is_sent(told: Told, key: str, code: str) -> None:
    [outcome] = told.of(key)
    assert outcome.fields["error_code"] == code
    assert outcome.fields["request_id"].startswith("refused-")
    assert outcome.fields["content_hash"] is None
    assert outcome.key == invalid_key(outcome.fields["request_id"]).encode()


def test_a_key_of_256_characters_is_refused_each_time(told: Told) -> None:
    outcomes = told.of("x" * 256)
    assert [o.fields["error_code"] for o in outcomes] == ["invalid_option"] * 2
    assert len({o.fields["request_id"] for o in outcomes}) == 2
    assert "at most 255" in outcomes[0].fields["message"]


def test_a_tenant_with_nul_and_a_submission_without_a_key_are_refused(told: Told) -> None:
    [nul] = told.of("tenant with NUL", "a\0b")
    assert (nul.fields["error_code"], "NUL" in nul.fields["message"]) == ("invalid_option", True)
    [keyless] = [o for o in told.outcomes if o.fields["idempotency_key"] is None]
    assert (keyless.fields["error_code"], "idempotency_key is missing" in keyless.fields["message"]) == ("invalid_option", True)


@pytest.mark.parametrize("case", UNDECODABLE)
def test_what_cannot_be_read_is_dead_lettered_with_its_bytes(told: Told, case: str) -> None:
    record = UNDECODABLE[case]
    [letter] = [letter for letter in told.letters if letter.key() == record.key]
    assert letter.value() == record.value
    headers = letter.headers()
    assert isinstance(headers, list)
    assert [header for header in headers if not header[0].startswith("qr-dlq-")] == list(record.headers)
    assert dict(headers)["qr-dlq-reason"] == b"undecodable"
    source = dict(headers)["qr-dlq-source-topic"]
    assert isinstance(source, bytes)
    assert source.endswith(b"render.intake")


def test_there_are_no_other_letters(told: Told) -> None:
    assert len(told.letters) == len(UNDECODABLE) + 2  # too large, round again


def test_neither_content_nor_the_clients_key_is_logged(told: Told) -> None:
    for text in ("elsewhere", "Gr\\u00fc", "negative scale", "keyless", "<xml/>"):
        assert text not in told.log


def test_a_producer_that_partitions_by_another_hash_is_served_all_the_same(stream: StreamRun) -> None:
    door = door_of(stream)
    door.submitter.partitioner = "consistent"  # librdkafka's own crc32
    worker = stream.start("--agent", "intake")
    door.forward(json_record, *({"idempotency_key": f"order {number}", "content": f"item {number % 7}"} for number in range(200)))
    door.settle(worker)
    outcomes = door.outcomes()
    assert len(outcomes) == 200
    assert {o.kind for o in outcomes} == {"completed"}
