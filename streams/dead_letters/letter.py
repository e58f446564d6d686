"""A dead letter: the original key, bytes and headers, with what an operator must know in headers of ours."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from processors.arrival import Arrival
from processors.errors import RenderError
from streams.deciding.delivery import DeliveredEvent
from streams.ownership.batch import OutgoingRecord

PREFIX = "qr-dlq-"
"""Begins each of our headers; the original ones stand before them, unchanged and in order."""

# Header (after the prefix) → meaning.
FIELDS = {
    "reason": "error code",
    "class": "permanent, transient or poison",
    "message": "one line: what is wrong and what to do",
    "content-hash": "of the request; absent without a canonical form",
    "request-id": "absent where the bytes could not be decoded",
    "tenant": "absent where the bytes could not be decoded",
    "idempotency-key": "absent where the request has none",
    "generation": "replay generation, 0 at first",
    "attempts": "how often it was tried",
    "first-failure": "milliseconds since the epoch",
    "last-failure": "milliseconds since the epoch",
    "source-topic": "where the record was",
    "source-partition": "where the record was",
    "source-offset": "where the record was",
    "content-length": "bytes of the original value; absent for a null value",
    "value-sha256": "only where the value is larger than the dead-letter topic takes: it is left out, and lies at source-topic, -partition, -offset",
}


def table() -> str:
    """The headers as docs/events.md shows them; a test compares the two."""
    return "\n".join(["| header | meaning |", "| --- | --- |", *(f"| `{PREFIX}{name}` | {meaning} |" for name, meaning in FIELDS.items())])


def dead_letter(topic: str, event: DeliveredEvent, arrival: Arrival, error: RenderError, *, source: str, now_ms: int, first_failure_ms: int | None = None, with_value: bool = True) -> OutgoingRecord:  # noqa: PLR0913  # what one letter is made of
    """The letter for one event; its value and key are the event's own.

    `with_value` is False for a value that the dead-letter topic has refused: a compressed publisher may send
    more than any uncompressed copy may hold.
    """
    request = arrival.request
    facts: dict[str, str | int | None] = {
        "reason": error.code,
        "class": str(error.error_class),
        "message": error.message,
        "content-hash": arrival.content_hash,
        "request-id": request.request_id if request else None,
        "tenant": request.tenant if request else None,
        "idempotency-key": request.idempotency_key if request else None,
        "generation": arrival.generation,
        "attempts": arrival.attempt,
        "first-failure": first_failure_ms or now_ms,
        "last-failure": now_ms,
        "source-topic": source,
        "source-partition": arrival.partition,
        "source-offset": event.offset,
        "content-length": None if event.value is None else len(event.value),
        "value-sha256": None if with_value or event.value is None else sha256(event.value).hexdigest(),
    }
    return OutgoingRecord(topic, event.key, event.value if with_value else None, [*event.headers, *our_headers(facts)], event.offset)


def our_headers(facts: Mapping[str, str | int | None]) -> list[tuple[str, bytes]]:
    """The headers of what is known of a letter, by the names of FIELDS and in their order."""
    return [(PREFIX + name, str(facts[name]).encode("utf-8", "replace")) for name in FIELDS if facts.get(name) is not None]
