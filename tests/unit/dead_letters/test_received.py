"""A letter read back is the letter that was written."""

from __future__ import annotations

from typing import Any

import pytest

from processors.arrival import read_arrival
from processors.errors import RenderError
from schemas.codec import Codec
from schemas.events import RenderRequested
from streams.dead_letters.letter import dead_letter
from streams.dead_letters.received import place_of, received
from streams.deciding.delivery import DeliveredEvent

NOW = 1_764_400_000_123


class Record:
    """What a consumer gives."""

    def __init__(self, key: bytes | None, value: bytes | None, headers: Any) -> None:
        self._parts = (key, value, headers)

    def topic(self) -> str:
        return "qr.render.dlq"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return 17

    def timestamp(self) -> tuple[int, int]:
        return (1, NOW + 9)

    def key(self) -> bytes | None:
        return self._parts[0]

    def value(self) -> bytes | None:
        return self._parts[1]

    def headers(self) -> Any:
        return self._parts[2]


def written(headers: list[tuple[str, bytes | None]], value: bytes | None = b"bytes", *, with_value: bool = True, generation: int = 2) -> Record:
    event = DeliveredEvent(40, 40, 1, b"key", value, tuple(headers))
    arrival = read_arrival(b"key", value, partition=1, partitions=4, generation=generation, attempt=3, rerouted=False, codec=Codec())
    record = dead_letter("qr.render.dlq", event, arrival, RenderError("undecodable", "what is wrong"), source="qr.render.requested", now_ms=NOW, with_value=with_value)
    return Record(record.key, record.value, record.headers)


def test_everything_that_was_written_is_read_back() -> None:
    theirs: list[tuple[str, bytes | None]] = [("x", b"\x00\xff"), ("x", b"again"), ("null", None)]
    letter = received(written(theirs))
    assert (letter.name, letter.short_name, letter.key, letter.value) == ("qr.render.dlq-3-17", "3-17", b"key", b"bytes")
    assert letter.headers == tuple(theirs)
    assert letter.facts == {
        "reason": "undecodable", "class": "poison", "message": "what is wrong", "generation": "2", "attempts": "3",
        "first-failure": str(NOW), "last-failure": str(NOW), "source-topic": "qr.render.requested", "source-partition": "1",
        "source-offset": "40", "content-length": "5",
    }
    assert (letter.ours, letter.tenant, letter.failed_at, letter.value_left_out) == (True, None, NOW, False)


def test_a_request_names_its_tenant() -> None:
    value = Codec().encode(RenderRequested(request_id="r", tenant="acme", content="x", requested_at=NOW))
    assert received(written([], value)).tenant == "acme"


def test_headers_that_a_publisher_named_as_ours_are_the_publishers() -> None:
    theirs: list[tuple[str, bytes | None]] = [("qr-dlq-reason", b"wrong_key"), ("qr-dlq-tenant", b"mallory")]
    letter = received(written(theirs))
    assert letter.headers == tuple(theirs)
    assert (letter.reason, letter.tenant) == ("undecodable", None)


def test_a_value_that_was_left_out_is_told_from_one_that_never_was() -> None:
    assert received(written([], b"large", with_value=False)).value_left_out
    null = received(written([], None))
    assert (null.value_left_out, null.number("content-length")) == (False, None)


@pytest.mark.parametrize("headers", [None, [], [("x", b"y")], [("qr-dlq-message", b"no reason")]])
def test_a_strangers_record_is_a_letter_without_facts(headers: Any) -> None:
    letter = received(Record(None, b"v", headers))
    assert (letter.ours, letter.facts, letter.failed_at) == (False, {}, NOW + 9)
    assert letter.headers == tuple(headers or ())


@pytest.mark.parametrize("said", ["", "x", "-1", "1.5", "²"])
def test_what_is_no_number_is_no_fact(said: str) -> None:
    letter = received(Record(None, b"v", [("qr-dlq-reason", b"undecodable"), ("qr-dlq-last-failure", said.encode())]))
    assert letter.failed_at == NOW + 9


@pytest.mark.parametrize(
    ("name", "place"),
    [("3-17", (3, 17)), ("qr.render.dlq-3-17", (3, 17)), ("other.dlq-3-17", None), ("qr.render.dlq-3", None), ("17", None), ("3-17-", None), ("3-x", None), ("-3-17", None), ("3-" + "9" * 30, None)],
)
def test_a_letter_is_named_long_or_short(name: str, place: tuple[int, int] | None) -> None:
    assert place_of(name, "qr.render.dlq") == place


def test_a_topic_may_have_hyphens_and_numbers() -> None:
    assert place_of("a-1-2.render.dlq-3-17", "a-1-2.render.dlq") == (3, 17)
