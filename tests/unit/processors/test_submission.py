"""Reading one record of the intake: its form, its names, and what makes two payloads the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.errors import RenderError
from processors.submission import Identity, SubmissionArrival, read_submission
from schemas.codec import Codec
from schemas.events import RenderRequested, RenderSubmitted

CODEC = Codec()
SUBMITTED = RenderSubmitted(idempotency_key="k", content="x")


def read(value: bytes | None, content_type: bytes | None = None, *, partition: int = 0, partitions: int = 1) -> SubmissionArrival:
    return read_submission(value, content_type, partition=partition, partitions=partitions, generation=0, rerouted=False, codec=CODEC)


def read_json(**members: Any) -> SubmissionArrival:
    return read(json.dumps({"idempotency_key": "k", "content": "x", **members}).encode())


def read_avro(**fields: Any) -> SubmissionArrival:
    return read(CODEC.encode(RenderSubmitted(**{"idempotency_key": "k", "content": "x", **fields})))


def code(arrival: SubmissionArrival) -> str | None:
    return arrival.problem.code if arrival.problem else None


def test_what_a_submission_leaves_out_is_as_the_schema_has_it() -> None:
    arrival = read_json()
    assert arrival.fields == SUBMITTED
    assert arrival.identity == Identity("default", "k")
    assert arrival.problem is None
    assert (arrival.content_hash, arrival.fingerprint) == (read_avro().content_hash, read_avro().fingerprint)


@pytest.mark.parametrize("content_type", [b"application/json", b"Application/JSON; charset=utf-8", b"text/json", None, b"", b"text/plain", b"\xff"])
def test_json_is_known_by_its_type_or_else_by_its_brace(content_type: bytes | None) -> None:
    assert read(b' \r\n{"idempotency_key": "k", "content": "x"}', content_type).fields == SUBMITTED
    assert read(b'\xef\xbb\xbf{"idempotency_key": "k", "content": "x"}', content_type).fields == SUBMITTED


@pytest.mark.parametrize("content_type", [b"application/avro", b"avro/binary", b"application/vnd.apache.avro+binary; x=y", None, b"application/octet-stream"])
def test_avro_is_known_by_its_type_or_else_by_its_framing(content_type: bytes | None) -> None:
    assert read(CODEC.encode(SUBMITTED), content_type).fields == SUBMITTED


@pytest.mark.parametrize(
    ("value", "content_type", "says"),
    [
        (None, None, "no value"),
        (b"", None, "no value"),
        (b"", b"application/json", "not JSON"),
        (b"[]", b"application/json", "not an object"),
        (b'{"content": NaN}', None, "not a JSON number"),
        (b'{"a": 1, "a": 1}', None, "there twice"),
        (b"{" * 100_000, None, "not JSON"),
        (b'{"a": ' + b"[" * 100_000, None, "not JSON"),
        (b'{"a": "\xe4"}', None, "byte 8 is not UTF-8"),
        (b'{"idempotency_key": "k"}', b"application/avro", "neither framing"),
        (CODEC.encode(SUBMITTED), b"application/json", "not UTF-8"),
        (CODEC.encode(RenderRequested(request_id="r", content="x", requested_at=0)), None, "RenderRequested, not a RenderSubmitted"),
        (b"<xml/>", None, "neither framing"),
    ],
)
def test_what_is_neither_form_is_undecodable_and_nobodys(value: bytes | None, content_type: bytes | None, says: str) -> None:
    arrival = read(value, content_type)
    assert code(arrival) == "undecodable"
    assert says in (arrival.problem.message if arrival.problem else "")
    assert (arrival.readable, arrival.identity, arrival.fingerprint) == (False, None, b"")


@pytest.mark.parametrize("key", ["k" * 255, "\x00", "🧾" * 255, " ", "a\x00b\x00", "ü"])
def test_keys_of_up_to_255_characters_of_any_kind_are_names(key: str) -> None:
    for arrival in (read_json(idempotency_key=key), read_avro(idempotency_key=key)):
        assert arrival.identity == Identity("default", key)
        assert arrival.identity is not None
        assert arrival.identity.key == b"default\x00" + key.encode()
        assert arrival.idempotency_key == key


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ({"idempotency_key": "k" * 256}, "at most 255"),
        ({"idempotency_key": ""}, "is empty"),
        ({"idempotency_key": None}, "is missing"),
        ({"idempotency_key": 17}, "must be a string, not this number"),
        ({"idempotency_key": "a\ud800"}, "unpaired surrogate"),
        ({"tenant": "a\x00b"}, "NUL"),
        ({"tenant": ""}, "is empty"),
        ({"tenant": "t" * 256}, "at most 255"),
        ({"tenant": None}, "must be a string, not null"),
    ],
)
def test_a_wrong_name_is_nobodys_intent_and_says_what_is_wrong(names: dict[str, Any], says: str) -> None:
    arrival = read_json(**names)
    assert (code(arrival), arrival.readable, arrival.identity) == ("invalid_option", True, None)
    assert says in (arrival.problem.message if arrival.problem else "")
    (arrival.idempotency_key or "").encode()
    arrival.tenant.encode()


def test_of_an_endless_key_an_event_repeats_only_the_beginning() -> None:
    assert read_json(idempotency_key="k" * 100_000).idempotency_key == "k" * 1_024


@pytest.mark.parametrize(
    ("members", "expected", "says"),
    [
        ({"request_id": "mine"}, "unknown_member", "'request_id'"),
        ({"colour": "red"}, "unknown_member", "'colour'"),
        ({"note": "why"}, "unknown_member", "'note'"),
        ({"boost": 1}, "invalid_option", "boost must be true or false"),
        ({"margin": "4"}, "invalid_option", "margin must be a number"),
        ({"deadline": "tomorrow"}, "invalid_option", "RFC 3339"),
        ({"content_base64": "eA=="}, "invalid_option", "exclude each other"),
        ({"payload": {"type": "text", "text": "x"}}, "invalid_option", "content and payload exclude each other"),
        ({"deliver": "pigeon"}, "invalid_option", "deliver must be one of"),
        ({"format": "bmp3"}, "invalid_option", "format must be one of"),
        ({"profile": "qr-9"}, "invalid_option", "profile must be one of"),
        ({"content": ""}, "content_empty", "Send at least one byte"),
        ({"content": "a\ud800"}, "invalid_content", "unpaired surrogate"),
        ({"content": "x" * (1 << 20)}, "request_too_large", "at most 1,048,576"),
    ],
)
def test_a_wrong_payload_still_has_an_owner_and_a_fingerprint(members: dict[str, Any], expected: str, says: str) -> None:
    arrival = read_json(**members)
    assert code(arrival) == expected
    assert says in (arrival.problem.message if arrival.problem else "")
    assert arrival.identity == Identity("default", "k")
    assert arrival.content_hash is None
    assert len(arrival.fingerprint) == 32
    assert arrival.fingerprint != read_json().fingerprint


def test_bytes_come_as_base64_and_are_the_same_content_as_their_text() -> None:
    as_bytes = read(b'{"idempotency_key": "k", "content_base64": "eA=="}')
    assert as_bytes.fields is not None
    assert as_bytes.fields.content == b"x"
    assert as_bytes.fingerprint == read_json().fingerprint


def read_payload(payload: Any, **members: Any) -> SubmissionArrival:
    return read(json.dumps({"idempotency_key": "k", "payload": payload, **members}).encode())


def test_a_payload_and_its_text_are_the_same_submission() -> None:
    wifi = read_payload({"type": "wifi", "ssid": "x", "password": "secret12"})
    other_order = read_payload({"password": "secret12", "ssid": "x", "hidden": False, "type": "wifi"})
    for same in (other_order, read_json(content="WIFI:T:WPA;S:x;P:secret12;;"), read_avro(content="WIFI:T:WPA;S:x;P:secret12;;")):
        assert (same.content_hash, same.fingerprint, same.fields) == (wifi.content_hash, wifi.fingerprint, wifi.fields)
    assert wifi.problem is None
    assert wifi.fingerprint != read_payload({"type": "wifi", "ssid": "x", "password": "secret13"}).fingerprint


def test_a_payload_and_its_text_are_the_same_submission_without_a_canonical_form_too() -> None:
    wrong = read_payload({"type": "tel", "number": "+1-2"}, scale=-1)
    assert code(wrong) == "invalid_option"
    assert wrong.fingerprint == read_json(content="tel:+1-2", scale=-1).fingerprint


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ({"type": "tel", "number": "911"}, "number: is a local number"),
        ({"type": "tell", "number": "911"}, "did you mean tel?"),
        ({"type": "tel", "numbr": "+1"}, "did you mean number?"),
        ("tel", "payload must be an object"),
        (None, "payload must be an object"),
        ({"type": "text", "text": "\ud800"}, "unpaired surrogate"),
    ],
)
def test_a_refused_payload_claims_its_key_and_is_no_conflict_when_it_comes_again(payload: Any, says: str) -> None:
    arrival = read_payload(payload)
    assert code(arrival) == "invalid_payload"
    assert says in (arrival.problem.message if arrival.problem else "")
    assert arrival.identity == Identity("default", "k")
    assert (arrival.content_hash, len(arrival.fingerprint)) == (None, 32)
    assert arrival.fingerprint == read_payload(payload, requested_at=7).fingerprint
    assert arrival.fingerprint != read_payload({"type": "tel", "number": "+1"}).fingerprint


@pytest.mark.parametrize(
    "said", [{"format": "PNG"}, {"dark": "#000"}, {"scale": 8}, {"margin": 4.0}, {"requested_at": 17}, {"requested_at": None}, {"tenant": "other"}, {"idempotency_key": "other"}]
)
def test_the_same_payload_in_other_words_has_the_same_fingerprint(said: dict[str, Any]) -> None:
    assert read_json(**said).fingerprint == read_json().fingerprint


@pytest.mark.parametrize("other", [{"content": "y"}, {"format": "svg"}, {"deliver": "reference"}, {"deadline": 17}, {"boost": False}, {"light": None}])
def test_whatever_is_asked_for_otherwise_is_another_payload(other: dict[str, Any]) -> None:
    assert read_json(**other).fingerprint != read_json().fingerprint
    assert read_json(**other).fingerprint == read_avro(**other).fingerprint


def test_a_payload_without_a_canonical_form_is_compared_member_by_member() -> None:
    wrong = {"scale": -1.0, "content": b"\xff"}
    assert read_avro(**wrong, requested_at=1).fingerprint == read_avro(**wrong, requested_at=2).fingerprint
    assert read_avro(**wrong).fingerprint != read_avro(**{**wrong, "scale": -2.0}).fingerprint
    one, two = read(b'{"x": 1, "y": [1], "idempotency_key": "k"}'), read(b'{"y": [1], "requested_at": 5, "x": 1, "idempotency_key": "k"}')
    assert code(one) == "unknown_member"
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint != read(b'{"x": 1, "y": [2], "idempotency_key": "k"}').fingerprint


def test_what_is_nested_as_deep_as_it_can_be_read_is_compared_by_its_bytes() -> None:
    codes = set()
    for depth in range(1, 1_100, 7):
        arrival = read(b'{"idempotency_key": "k", "x": ' + b"[" * depth + b"]" * depth + b"}")
        codes.add(code(arrival))
        assert bool(arrival.fingerprint) == arrival.readable
    assert codes == {"unknown_member", "undecodable"}


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode), st.sampled_from([None, b"application/json", b"application/avro"]))
def test_reading_never_raises_whatever_the_bytes_are(value: bytes, content_type: bytes | None) -> None:
    arrival = read(value, content_type)
    assert arrival.problem is None or isinstance(arrival.problem, RenderError)


JSON_VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=5)
MEMBERS = st.dictionaries(st.sampled_from([*RenderSubmitted.__slots__, "content_base64", "payload", "odd"]), JSON_VALUES, max_size=8)


@settings(deadline=None, max_examples=100)
@given(MEMBERS)
def test_any_object_is_read_the_same_way_in_any_order(members: dict[str, Any]) -> None:
    one = read(json.dumps(members).encode(), b"application/json")
    other = read(json.dumps(dict(reversed(members.items()))).encode(), b"application/json")
    assert one.readable
    assert (code(one), one.identity, one.fingerprint, one.fields) == (code(other), other.identity, other.fingerprint, other.fields)
