"""What the replay of a letter is, letter by letter; nothing is ever dropped."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from processors.canonical import identify, invalid_key
from processors.partitioner import partition_for
from schemas.codec import Codec
from schemas.events import RenderRequested, RenderSubmitted
from streams.dead_letters.received import ReceivedLetter
from streams.dead_letters.replay_plan import MARKS, Refusal, Refused, Replay, Ways, plan
from streams.deciding.stream_headers import marks

NOW = 1_764_400_000_123
CODEC = Codec()
REQUEST = RenderRequested(request_id="r-1", content="https://example.com/", requested_at=NOW)
VALUE = CODEC.encode(REQUEST)
RIGHT = identify(REQUEST)[1].encode()
WAYS = Ways("qr.render.requested", "qr.render.intake", 8, CODEC)
FACTS = {"reason": "render_failed", "generation": "0", "source-topic": "qr.render.requested", "source-partition": "11", "source-offset": "5"}


def letter(key: bytes | None = RIGHT, value: bytes | None = VALUE, headers: tuple[tuple[str, bytes | None], ...] = (), **facts: str) -> ReceivedLetter:
    given = {name.replace("_", "-"): text for name, text in facts.items()}
    return ReceivedLetter("qr.render.dlq", 3, 17, NOW, key, value, headers, {**FACTS, **given})


def replayed(one: ReceivedLetter, ways: Ways = WAYS, at_source: bytes | None = None) -> Replay:
    planned = plan(one, ways, at_source, NOW)
    assert isinstance(planned, Replay), planned
    return planned


def refused(one: ReceivedLetter, ways: Ways = WAYS, at_source: bytes | None = None) -> Refusal:
    planned = plan(one, ways, at_source, NOW)
    assert isinstance(planned, Refused), planned
    assert planned.line.isprintable()
    return planned.code


def test_a_replay_is_the_letter_with_the_next_generation_in_its_keys_partition() -> None:
    theirs = (("x", b"\x00\xff"), ("x", b"again"), ("null", None))
    planned = replayed(letter(headers=theirs, generation="4"))
    assert (planned.key, planned.value, planned.generation) == (RIGHT, VALUE, 5)
    assert planned.headers == [*theirs, ("qr-generation", b"5")]
    assert planned.partition == partition_for(RIGHT, 8)
    assert (planned.key_repaired, planned.note) == (False, None)


def test_the_marks_of_the_old_way_are_left_behind_and_nothing_else() -> None:
    old: tuple[tuple[str, bytes | None], ...] = tuple((name, b"7") for name in sorted(MARKS))
    theirs = (("qr-invalidate", b"control"), ("qr-campaign", b"spring"))
    planned = replayed(letter(headers=(*old, ("qr-dlq-tenant", b"mallory"), *theirs)))
    assert planned.headers == [*theirs, ("qr-generation", b"1")]


def test_a_worker_reads_the_next_generation_and_a_first_attempt() -> None:
    old = (("qr-generation", b"3"), ("qr-attempt", b"5"), ("qr-rerouted", b"0"))
    read = marks((name, bytes(value) if isinstance(value, bytes) else None) for name, value in replayed(letter(headers=old, generation="3")).headers)
    assert read == (4, 1, False)


@pytest.mark.parametrize("reason", ["wrong_key", "missing_key"])
@pytest.mark.parametrize("key", [b"wrong", b"", None])
def test_a_key_is_repaired_when_that_is_asked_for(reason: str, key: bytes | None) -> None:
    planned = replayed(letter(key, reason=reason), replace(WAYS, repair_key=True))
    assert (planned.key, planned.partition, planned.key_repaired, planned.note) == (RIGHT, partition_for(RIGHT, 8), True, None)


def test_a_key_is_not_touched_unless_that_is_asked_for() -> None:
    planned = replayed(letter(b"wrong", reason="wrong_key"))
    assert (planned.key, planned.key_repaired) == (b"wrong", False)
    assert planned.note == "wrong_key again; --repair-key gives it the right one"


def test_letters_of_other_reasons_keep_their_key() -> None:
    planned = replayed(letter(b"wrong", reason="request_too_large"), replace(WAYS, repair_key=True))
    assert (planned.key, planned.key_repaired) == (b"wrong", False)


def test_a_request_without_canonical_form_gets_the_key_of_its_id() -> None:
    value = CODEC.encode(replace(REQUEST, content=""))
    planned = replayed(letter(b"wrong", value, reason="wrong_key"), replace(WAYS, repair_key=True))
    assert planned.key == invalid_key("r-1").encode()


def test_a_letter_without_key_goes_back_where_it_came_from() -> None:
    assert replayed(letter(None, reason="missing_key")).partition == 11 % 8


@pytest.mark.parametrize("value", [b"", b"\x00\x01not avro", b"{}", VALUE[:-1], VALUE + b"\x00", None])
def test_what_cannot_be_decoded_is_refused_unless_raw_and_then_sent_as_it_is(value: bytes | None) -> None:
    one = letter(b"any", value, reason="undecodable", generation="2")
    assert refused(one) is Refusal.undecodable
    planned = replayed(one, replace(WAYS, raw=True, repair_key=True))
    assert (planned.key, planned.value, planned.generation, planned.key_repaired) == (b"any", value, 3, False)
    assert planned.note is not None
    assert planned.note.startswith("dead letter again")


def test_a_value_that_was_left_out_comes_from_its_source_if_it_is_the_same() -> None:
    one = letter(value=None, value_sha256=sha256(VALUE).hexdigest())
    assert replayed(one, at_source=VALUE).value == VALUE
    assert refused(one) is Refusal.value_gone
    assert refused(one, at_source=VALUE + b"x") is Refusal.value_changed


def test_letters_of_other_topics_and_strangers_are_refused() -> None:
    assert refused(letter(source_topic="qr.render.elsewhere")) is Refusal.other_source
    stranger = ReceivedLetter("qr.render.dlq", 3, 17, NOW, RIGHT, VALUE, (), {})
    assert refused(stranger) is Refusal.not_ours


@pytest.mark.parametrize(("value", "content_type"), [
    (b'{"idempotency_key": "k-1", "content": "x"}', b"application/json"),
    (CODEC.encode(RenderSubmitted(idempotency_key="k-1", content="x")), b"application/avro"),
])
@pytest.mark.parametrize("key", [b"default\x00k-1", b"k-1"])
def test_a_submission_goes_back_to_the_intake_as_it_was(value: bytes, content_type: bytes, key: bytes) -> None:
    one = letter(key, value, (("content-type", content_type), ("qr-rerouted", b"2")), reason="wrong_partition", source_topic="qr.render.intake")
    planned = replayed(one, replace(WAYS, repair_key=True))
    assert (planned.topic, planned.key, planned.value, planned.partition) == ("qr.render.intake", key, value, partition_for(key, 8))
    assert planned.headers == [("content-type", content_type), ("qr-generation", b"1")]
    assert (planned.generation, planned.key_repaired, planned.note) == (1, False, None)


def test_a_submission_that_is_refused_again_is_foreseen_and_an_unreadable_one_needs_raw() -> None:
    def submission(value: bytes) -> ReceivedLetter:
        return letter(b"k", value, (("content-type", b"application/json"),), source_topic="qr.render.intake")

    assert replayed(submission(b'{"idempotency_key": "k", "contents": "x"}')).note == "unknown_member again"
    assert refused(submission(b'{"idempotency_key": ')) is Refusal.undecodable
    assert replayed(submission(b"{"), replace(WAYS, raw=True)).topic == "qr.render.intake"


def test_a_generation_that_no_worker_would_read_is_never_written() -> None:
    assert replayed(letter(generation="999999998")).headers[-1] == ("qr-generation", b"999999999")
    assert refused(letter(generation="999999999")) is Refusal.too_often


def test_what_will_fail_again_is_foreseen() -> None:
    late = CODEC.encode(replace(REQUEST, deadline=NOW - 1))
    assert replayed(letter(value=late)).note == "deadline_exceeded: its deadline has passed"
    large = CODEC.encode(replace(REQUEST, content=b"\xff" * (1 << 20)))
    assert replayed(letter(value=large)).note == "request_too_large again"


def test_the_page_names_every_refusal() -> None:
    page = (Path(__file__).parents[3] / "docs" / "dead-letters.md").read_text()
    for refusal in Refusal:
        assert f"| `{refusal.name}` | {refusal.value} |" in page
