from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schemas.cloudevents import headers, rfc3339, traceparent_of
from schemas.events import RenderCompleted, RenderFailed, RenderRequested
from tests.unit.schemas.records import EXAMPLES, HASH, NOW

REQUEST, COMPLETED, FAILED = EXAMPLES[:3]
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_completed_event_has_these_headers_in_this_order() -> None:
    assert isinstance(COMPLETED, RenderCompleted)
    assert headers(COMPLETED, "/qrstream/worker", TRACE) == [
        ("ce_specversion", b"1.0"),
        ("ce_id", b"e-1"),
        ("ce_type", b"qr.render.v1.RenderCompleted"),
        ("ce_source", b"/qrstream/worker"),
        ("ce_subject", HASH.encode()),
        ("ce_time", b"2025-11-29T07:06:40.128Z"),
        ("content-type", b"application/avro"),
        ("traceparent", TRACE.encode()),
    ]


def test_a_failed_event_without_a_content_hash_has_no_subject() -> None:
    assert isinstance(FAILED, RenderFailed)
    made = dict(headers(FAILED, "s"))
    assert "ce_subject" not in made
    assert (made["ce_id"], made["ce_time"]) == (b"e-2", b"2025-11-29T07:06:40.127Z")
    assert dict(headers(replace(FAILED, content_hash=HASH), "s"))["ce_subject"] == HASH.encode()


def test_a_request_is_named_by_its_request_id_and_takes_its_subject_from_the_publisher() -> None:
    assert isinstance(REQUEST, RenderRequested)
    made = dict(headers(REQUEST, "s", content_hash=HASH))
    assert (made["ce_id"], made["ce_type"]) == (b"order-17", b"qr.render.v1.RenderRequested")
    assert (made["ce_subject"], made["ce_time"]) == (HASH.encode(), b"2025-11-29T07:06:40.123Z")
    assert "ce_subject" not in dict(headers(REQUEST, "s"))


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, None),
        ((1 << 63) - 1, None),
        (-(1 << 63), None),
    ],
)
def test_an_instant_is_rfc_3339_where_that_can_write_it(instant: int, text: str | None) -> None:
    assert rfc3339(instant) == text
    made = dict(headers(RenderRequested(request_id="r", content="c", requested_at=instant), "s"))
    assert made.get("ce_time") == (text.encode() if text else None)


GOOD = [TRACE, TRACE.replace("-01", "-00"), "01" + TRACE[2:], "01" + TRACE[2:] + "-later-part", "cc" + TRACE[2:] + "-"]
BAD = [
    "", "00", TRACE.upper(), "ff" + TRACE[2:], TRACE + "-more", TRACE + "\n", " " + TRACE, TRACE[:-1], "01" + TRACE[2:] + "x",
    "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-" + "0" * 16 + "-01",
]  # fmt: skip


@pytest.mark.parametrize("traceparent", GOOD)
def test_a_well_formed_traceparent_passes_through(traceparent: str) -> None:
    made = dict(headers(RenderRequested(request_id="r", content="c", requested_at=NOW), "s", traceparent))
    assert made["traceparent"] == traceparent.encode()
    assert traceparent_of(list(made.items())) == traceparent


@pytest.mark.parametrize("traceparent", BAD)
def test_another_one_is_left_out(traceparent: str) -> None:
    made = headers(RenderRequested(request_id="r", content="c", requested_at=NOW), "s", traceparent)
    assert "traceparent" not in dict(made)
    assert traceparent_of([("traceparent", traceparent.encode())]) is None


@pytest.mark.parametrize(
    ("record_headers", "expected"),
    [
        (None, None),
        ([], None),
        ([("traceparent", None)], None),
        ([("traceparent", b"\xff" * 55)], None),
        ([("TraceParent", TRACE.encode())], TRACE),
        ([("traceparent", TRACE.encode())] * 2, None),
        ([("ce_id", b"x"), ("traceparent", TRACE.encode())], TRACE),
    ],
)
def test_the_traceparent_is_read_from_headers_as_they_come(record_headers: Any, expected: str | None) -> None:
    assert traceparent_of(record_headers) == expected
