from __future__ import annotations

import io
import struct
from dataclasses import asdict, replace
from typing import Any

import fastavro
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.codec import Codec, EncodeError, Framing, UndecodableError
from schemas.definitions import current
from schemas.events import RECORD_TYPES, MarkerRow, Record, RenderCompleted, RenderFailed, RenderRequested
from schemas.resolving import plain
from tests.unit.schemas.records import ANY_RECORD, EXAMPLES, NOW, PATIENT

CODEC = Codec()
PREFIX = 10
each_record = pytest.mark.parametrize("record", EXAMPLES, ids=lambda record: type(record).__name__)
each_view = pytest.mark.parametrize("view", RECORD_TYPES, ids=lambda view: view.__name__)


def by_fastavro(record: Record) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(plain(current(type(record)).tree)), asdict(record))
    return out.getvalue()


def reason(raw: bytes | None, view: type[Record]) -> str:
    with pytest.raises(UndecodableError) as caught:
        CODEC.decode(raw, view)
    return caught.value.reason


@PATIENT
@given(ANY_RECORD)
def test_a_record_comes_back_as_it_went_in(record: Record) -> None:
    assert CODEC.decode(CODEC.encode(record), type(record)) == record


@PATIENT
@given(ANY_RECORD)
def test_the_bytes_after_the_framing_are_those_that_fastavro_writes(record: Record) -> None:
    assert CODEC.encode(record)[PREFIX:] == by_fastavro(record)


def test_a_marker_is_exactly_these_bytes() -> None:
    raw = CODEC.encode(MarkerRow(generation=1, attempt=-2, outcome=None, event_id="é", expires_at=NOW))
    # zigzag 1 = 02, -2 = 03; branch 0; branch 1 = 02, length 2 = 04, UTF-8; zigzag of the instant in six bytes
    assert raw[PREFIX:].hex(" ") == "02 03 00 02 04 c3 a9 f6 b1 fb e6 d9 66"


def test_a_decoded_record_is_the_frozen_class_itself() -> None:
    decoded = CODEC.decode(CODEC.encode(EXAMPLES[4]), MarkerRow)
    assert type(decoded) is MarkerRow
    with pytest.raises(AttributeError):
        decoded.attempt = 2  # type: ignore[misc]
    assert hash(decoded) == hash(EXAMPLES[4])
    assert replace(decoded, attempt=2).attempt == 2


@pytest.mark.parametrize("content", ["", "a", "x" * 63, "x" * 64, "x" * 8191, "x" * 8192, "\x00", "😀" * 1000, b"", b"\xff" * 70_000])
def test_content_of_any_length_and_kind_comes_back(content: str | bytes) -> None:
    record = RenderRequested(request_id="r", content=content, requested_at=NOW)
    decoded = CODEC.decode(CODEC.encode(record), RenderRequested)
    assert decoded.content == content
    assert type(decoded.content) is type(content)


@pytest.mark.parametrize("instant", [0, -1, 1, (1 << 34) - 1, 1 << 34, (1 << 41) - 1, 1 << 41, -(1 << 63), (1 << 63) - 1])
def test_every_64_bit_instant_comes_back(instant: int) -> None:
    record = MarkerRow(generation=0, attempt=0, expires_at=instant)
    raw = CODEC.encode(record)
    assert raw[PREFIX:] == by_fastavro(record)
    assert CODEC.decode(raw, MarkerRow).expires_at == instant


@pytest.mark.parametrize("number", [0, -1, 1, 63, 64, -64, -65, 500, 8191, 8192, -8192, -8193, (1 << 31) - 1, -(1 << 31)])
def test_every_count_comes_back(number: int) -> None:
    record = MarkerRow(generation=number, attempt=number, expires_at=NOW)
    raw = CODEC.encode(record)
    assert raw[PREFIX:] == by_fastavro(record)
    assert CODEC.decode(raw, MarkerRow) == record


# What is refused


@PATIENT
@given(st.binary(max_size=400), st.sampled_from(RECORD_TYPES))
@example(b"", RenderRequested)
def test_any_bytes_are_a_record_or_undecodable(raw: bytes, view: type[Record]) -> None:
    try:
        decoded = CODEC.decode(raw, view)
    except UndecodableError:
        return
    assert type(decoded) is view


@PATIENT
@given(st.binary(max_size=400), st.sampled_from(RECORD_TYPES))
def test_any_bytes_after_a_right_framing_are_a_record_that_encodes_again_or_undecodable(body: bytes, view: type[Record]) -> None:
    raw = CODEC.encode(next(record for record in EXAMPLES if type(record) is view))[:PREFIX] + body
    try:
        decoded = CODEC.decode(raw, view)
    except UndecodableError:
        return
    # Compared as bytes: NaN is unlike itself. A longer way to write a number is read, and written the short way.
    assert CODEC.encode(CODEC.decode(CODEC.encode(decoded), view)) == CODEC.encode(decoded)


@PATIENT
@given(st.data())
def test_a_changed_byte_gives_a_record_or_undecodable(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(EXAMPLES))
    raw = bytearray(CODEC.encode(record))
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert type(CODEC.decode(bytes(raw), type(record))) is type(record)
    except UndecodableError:
        return


@each_record
def test_a_record_cut_at_any_byte_is_refused(record: Record) -> None:
    raw = CODEC.encode(record)
    for end in range(len(raw)):
        reason(raw[:end], type(record))


@each_record
@pytest.mark.parametrize("extra", [b"\x00", b"\x80", b"trailing"])
def test_bytes_after_the_record_are_refused(record: Record, extra: bytes) -> None:
    assert reason(CODEC.encode(record) + extra, type(record)) == f"{len(extra)} bytes after the record"


@each_record
def test_every_flipped_bit_of_the_framing_is_refused(record: Record) -> None:
    raw = CODEC.encode(record)
    for bit in range(8 * PREFIX):
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        reason(bytes(flipped), type(record))


@each_record
@each_view
def test_a_record_of_another_type_is_refused_by_name(record: Record, view: type[Record]) -> None:
    held = type(record)
    if held is view:
        assert CODEC.decode(CODEC.encode(record), view) == record
    else:
        assert reason(CODEC.encode(record), view) == f"the record is a {held.__name__}, not a {view.__name__}"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, "the record has no value"),
        (b"", "the record has no value"),
        (b"{}", "neither framing begins with 7b7d"),
        (b"\xc3", "neither framing begins with c3"),
        (b"\xc3\x01\x00", "cut short: 3 bytes are not the whole framing"),
        (b"\xc3\x01" + bytes(8), "no schema with the fingerprint 0000000000000000 is known"),
        (b"\x00\x00\x00\x00\x01\x00", "Confluent framing, and no schema registry is set"),
    ],
)
def test_the_reason_says_what_the_bytes_begin_with(raw: bytes | None, expected: str) -> None:
    assert reason(raw, RenderRequested) == expected


def marker(body: str) -> bytes:
    return CODEC.encode(EXAMPLES[4])[:PREFIX] + bytes.fromhex(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("00 00 04 00 00", "byte 12 names no branch of its union"),
        ("00 00 02 01 00 00", "the length at byte 13 is -1, 2 bytes are left"),
        ("00 00 02 fe ff ff ff ff ff ff ff ff 01", "the length at byte 13 is 9223372036854775807, 0 bytes are left"),
        ("00 00 02 02 ff 00 00", "a text is not UTF-8: invalid start byte"),
        ("00 00 02 06 ed a0 80 00 00", "a text is not UTF-8: invalid continuation byte"),
        ("80 80 80 80 10 00 00 00 00", "the number at byte 10 does not fit 32 bits"),
        ("00 00 00 00 ff ff ff ff ff ff ff ff ff 03", "the number at byte 14 does not fit 64 bits"),
        ("00 00 00 00 80 80 80 80 80 80 80 80 80 80 00", "the number at byte 14 does not fit 64 bits"),
    ],
)
def test_what_is_wrong_inside_a_record_is_named_with_its_place(body: str, expected: str) -> None:
    assert reason(marker(body), MarkerRow) == expected


def test_a_boolean_is_one_or_zero_and_nothing_else() -> None:
    raw = CODEC.encode(RenderRequested(request_id="r", content="c", error_correction="@", requested_at=NOW))
    at = raw.index(b"\x02@") + 2
    assert raw[at] == 1
    assert reason(raw[:at] + b"\x02" + raw[at + 1 :], RenderRequested) == f"byte {at} is no boolean"


# What cannot be encoded


def refused(record: Record) -> tuple[str, str | None]:
    with pytest.raises(EncodeError) as caught:
        CODEC.encode(record)
    assert caught.value.code == "unencodable"
    return caught.value.reason, caught.value.field


REQUEST = EXAMPLES[0]
COMPLETED = EXAMPLES[1]


@pytest.mark.parametrize(
    ("record", "change", "expected"),
    [
        (REQUEST, {"content": "ab\ud800c"}, "the character at 2 is an unpaired surrogate, which UTF-8 cannot hold"),
        (REQUEST, {"idempotency_key": "\udfff"}, "the character at 0 is an unpaired surrogate, which UTF-8 cannot hold"),
        (REQUEST, {"content": None}, "NoneType is not string or bytes"),
        (REQUEST, {"content": 17}, "int is not string or bytes"),
        (REQUEST, {"format": None}, "NoneType is not string"),
        (REQUEST, {"format": b"png"}, "bytes is not string"),
        (REQUEST, {"dark": 0}, "int is not string or null"),
        (REQUEST, {"scale": "8"}, "str is not null or double"),
        (REQUEST, {"margin": 10**400}, "the number does not fit a double"),
        (REQUEST, {"requested_at": 1 << 63}, "the number does not fit 64 bits"),
        (REQUEST, {"requested_at": None}, "NoneType is not long"),
        (REQUEST, {"deadline": "soon"}, "str is not null or long"),
        (COMPLETED, {"mask": 1 << 31}, "the number does not fit 32 bits"),
        (COMPLETED, {"artifact": "text"}, "str is not null or bytes"),
        (COMPLETED, {"verification": None}, "NoneType is not record"),
    ],
)
def test_a_value_that_avro_cannot_hold_is_refused_with_its_field(record: Record, change: dict[str, Any], expected: str) -> None:
    (field,) = change
    assert refused(replace(record, **change)) == (f"{type(record).__name__}.{field}: {expected}", field)


def test_a_wrong_value_of_a_nested_record_is_named() -> None:
    assert isinstance(COMPLETED, RenderCompleted)
    wrong = replace(COMPLETED, verification=replace(COMPLETED.verification, decoder="\ud800"))
    assert refused(wrong)[0] == (
        "RenderCompleted.verification: Verification.decoder: "
        "the character at 0 is an unpaired surrogate, which UTF-8 cannot hold"
    )


def test_the_content_is_not_quoted_in_the_refusal() -> None:
    message, _ = refused(RenderRequested(request_id="r", content="secret\ud800", requested_at=NOW))
    assert "secret" not in message


def test_a_whole_number_may_stand_for_a_double() -> None:
    raw = CODEC.encode(RenderRequested(request_id="r", content="c", scale=8, margin=0, requested_at=NOW))
    decoded = CODEC.decode(raw, RenderRequested)
    assert (repr(decoded.scale), repr(decoded.margin)) == ("8.0", "0.0")


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), -0.0, 5e-324])
def test_numbers_that_the_worker_refuses_still_reach_it(number: float) -> None:
    decoded = CODEC.decode(CODEC.encode(RenderRequested(request_id="r", content="c", scale=number, requested_at=NOW)), RenderRequested)
    assert decoded.scale is not None
    assert struct.pack("<d", decoded.scale) == struct.pack("<d", number)


def test_what_is_no_record_of_the_stream_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="dict is no record of this stream"):
        CODEC.encode({})  # type: ignore[arg-type]


def test_confluent_framing_without_a_registry_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="Confluent framing needs a schema registry"):
        Codec(Framing.CONFLUENT)


def test_a_failed_event_without_a_content_hash_comes_back_without_one() -> None:
    assert CODEC.decode(CODEC.encode(EXAMPLES[2]), RenderFailed).content_hash is None
