"""Requests without an outcome yet, as rows: the one parked on a delay topic, and those that wait for its retry."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode

from processors.row_keys import marker_key
from schemas.events import WaitingRow
from streams.deciding.delivery import DeliveredEvent

PARKED = b"parked/"
WAITING = b"waiting/"
ANSWERABLE = b"answerable/"
_NUL = b"\x00"
_OFFSET_BYTES = 8


def parked_key(key: bytes | None, tenant: str, request_id: str) -> bytes:
    """The row of a request that is parked itself: there is one at most, whichever attempt it waits for."""
    return PARKED + marker_key(key, tenant, request_id).partition(b"/")[2]


def waiting_prefix(content_hash: str) -> bytes:
    """Begins the keys of all requests that wait for a hash."""
    return WAITING + content_hash.encode() + _NUL


def waiting_key(content_hash: str, offset: int) -> bytes:
    """The row of one request that waits; keys sort in the order in which the requests came."""
    return waiting_prefix(content_hash) + offset.to_bytes(_OFFSET_BYTES, "big")


def answerable_key(content_hash: str) -> bytes:
    """The row that says: the requests that waited for this hash can be decided again."""
    return ANSWERABLE + content_hash.encode()


def waiting_row(event: DeliveredEvent, *, now_ms: int, expires_ms: int) -> WaitingRow:
    """The row of an event that gets no outcome yet."""
    headers = [[name, None if value is None else b64encode(value).decode()] for name, value in event.headers]
    return WaitingRow(
        offset=event.offset, key=event.key or b"", value=event.value or b"", headers=json.dumps(headers, separators=(",", ":")),
        began_at=now_ms, expires_at=expires_ms,
    )


def event_of(row: WaitingRow, generation: int) -> DeliveredEvent:
    """The event again, as it came; `generation` is the present one of the consumer group."""
    headers = tuple((name, None if value is None else b64decode(value)) for name, value in json.loads(row.headers))
    return DeliveredEvent(row.offset, None, generation, row.key, row.value, headers)
