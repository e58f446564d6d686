from __future__ import annotations

from hashlib import sha256
from typing import Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.arrival import MAX_REQUEST_BYTES, Arrival, read_arrival
from processors.canonical import content_hash, invalid_key
from processors.partitioner import partition_for
from processors.row_keys import artifact_key, is_content_hash, marker_key, result_key
from processors.spec import validate
from schemas.codec import Codec
from tests.unit.processors.conftest import MakeRequest


class Read(Protocol):
    def __call__(self, key: bytes | None, value: bytes | None) -> Arrival: ...


@pytest.fixture(scope="module")
def read(codec: Codec) -> Read:
    def reading(key: bytes | None, value: bytes | None) -> Arrival:
        return read_arrival(
            key, value, partition=3, partitions=8, generation=0, attempt=1, rerouted=False, codec=codec
        )

    return reading


def problem_of(arrival: Arrival) -> str | None:
    return arrival.problem.code if arrival.problem else None


def test_a_sound_record_has_no_problem(read: Read, codec: Codec, request_of: MakeRequest) -> None:
    request = request_of()
    spec = validate(request)
    key = content_hash(spec).encode()
    value = codec.encode(request)

    assert read(key, value) == Arrival(
        key, len(value), 3, False, 0, 1, request, spec, key.decode(), None, partition_for(key, 8)
    )


@pytest.mark.parametrize("value", [None, b"", b"garbage", b"\xc3\x01" + bytes(8), b"\x00" * 20])
def test_bytes_that_are_no_request_are_undecodable(read: Read, value: bytes | None) -> None:
    arrival = read(b"key", value)

    assert problem_of(arrival) == "undecodable"
    assert (arrival.request, arrival.spec, arrival.content_hash) == (None, None, None)
    assert arrival.size_bytes == len(value or b"")


def test_a_key_that_is_not_the_hash_is_told_the_right_one(
    read: Read, codec: Codec, request_of: MakeRequest
) -> None:
    arrival = read(b"0" * 64, codec.encode(request_of()))
    right = content_hash(validate(request_of()))

    assert problem_of(arrival) == "wrong_key"
    assert arrival.content_hash == right
    assert right in str(arrival.problem)


@pytest.mark.parametrize("key", [None, b""])
def test_a_record_without_key_is_named_so(read: Read, codec: Codec, request_of: MakeRequest, key: bytes | None) -> None:
    arrival = read(key, codec.encode(request_of()))

    assert problem_of(arrival) == "missing_key"
    assert arrival.home_partition is None
    assert arrival.content_hash == content_hash(validate(request_of()))


@pytest.mark.parametrize("key", [None, b"any", invalid_key("r-1").encode()])
def test_validity_comes_before_the_key(
    read: Read, codec: Codec, request_of: MakeRequest, key: bytes | None
) -> None:
    arrival = read(key, codec.encode(request_of(scale=-1.0)))

    assert problem_of(arrival) == "invalid_option"
    assert (arrival.spec, arrival.content_hash) == (None, None)
    assert arrival.request == request_of(scale=-1.0)


def test_the_envelope_is_checked_too(read: Read, codec: Codec, request_of: MakeRequest) -> None:
    arrival = read(b"any", codec.encode(request_of(tenant="a\x00b")))

    assert (problem_of(arrival), arrival.spec) == ("invalid_option", None)


def test_a_value_of_two_megabytes_is_still_read_for_its_request_id(
    read: Read, codec: Codec, request_of: MakeRequest
) -> None:
    value = codec.encode(request_of(request_id="big", content=bytes(2_000_000)))
    arrival = read(b"any", value)

    assert problem_of(arrival) == "request_too_large"
    assert arrival.request is not None
    assert arrival.request.request_id == "big"
    assert f"{len(value):,} bytes" in str(arrival.problem)


def test_the_largest_value_is_taken(read: Read, codec: Codec, request_of: MakeRequest) -> None:
    overhead = len(codec.encode(request_of(content=bytes(1_000_000)))) - 1_000_000
    at_limit, above = (
        codec.encode(request_of(content=bytes(MAX_REQUEST_BYTES - overhead + extra))) for extra in (0, 1)
    )

    assert len(at_limit) == MAX_REQUEST_BYTES
    assert problem_of(read(b"any", at_limit)) == "wrong_key"
    assert problem_of(read(b"any", above)) == "request_too_large"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.none() | st.binary(max_size=80), value=st.none() | st.binary(max_size=200))
def test_reading_never_raises(read: Read, key: bytes | None, value: bytes | None) -> None:
    assert problem_of(read(key, value)) == "undecodable"


def test_rows_are_named_by_kind_and_hash() -> None:
    digest = "ab" * 32

    assert result_key(digest) == b"result/" + digest.encode()
    assert artifact_key(digest) == b"artifact/" + digest.encode()
    assert marker_key(digest.encode(), "shop", "r-1") == b"request/" + digest.encode() + b"\x00shop\x00r-1"


@pytest.mark.parametrize("key", [None, b"", b"a\x00b", b"A" * 64, b"a" * 65])
def test_a_marker_of_a_key_that_is_no_hash_is_named_by_the_keys_own_hash(key: bytes | None) -> None:
    assert not is_content_hash(key)
    assert marker_key(key, "shop", "r") == b"request/!" + sha256(key or b"").hexdigest().encode() + b"\x00shop\x00r"


def test_markers_of_different_requests_never_share_a_name() -> None:
    parts = ["", "a", "a\x00", "\x00a", "\x01", "\x01a", "a\x01\x01", "\ud800"]
    names = {marker_key(b"k", tenant, request_id) for tenant in parts for request_id in parts}

    assert len(names) == len(parts) ** 2
