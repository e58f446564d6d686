"""The decision about one request: pure, no clock, no I/O.

`decide` returns a value; the code that carries it out never asks why. The rules
stand in the order in which they are asked, each in a function of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from processors.arrival import MAX_REQUEST_BYTES, Arrival, read_arrival
from processors.errors import TABLE, RenderError, RequestRefused, StreamRefused, error_of
from processors.row_keys import artifact_key, is_content_hash, marker_key, result_key

if TYPE_CHECKING:
    from schemas.events import MarkerRow, ResultRow

__all__ = [
    "MAX_REQUEST_BYTES",
    "Answer",
    "Arrival",
    "DeadLetter",
    "Decision",
    "Drop",
    "Fail",
    "Render",
    "Reroute",
    "Wait",
    "artifact_key",
    "decide",
    "is_content_hash",
    "marker_key",
    "read_arrival",
    "result_key",
]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Keep the record's bytes as a dead letter; there is no request to answer."""

    error: RenderError


@dataclass(frozen=True, slots=True)
class Reroute:
    """Send the record, marked, to the partition where its key belongs."""

    partition: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Publish nothing: this request was taken before."""

    reason: str


@dataclass(frozen=True, slots=True)
class Fail:
    """Publish a failed event; `error.row` says what else. from_cache: found in the table."""

    error: RenderError
    from_cache: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Publish a completed event from the ready row; refresh: render once afterwards."""

    stale: bool
    refresh: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """Keep the request beside the pending retry of its content hash."""


@dataclass(frozen=True, slots=True)
class Render:
    """Render, then publish the outcome."""


Decision: TypeAlias = DeadLetter | Reroute | Drop | Fail | Answer | Wait | Render


def decide(
    arrival: Arrival, marker: MarkerRow | None, result: ResultRow | None, now_ms: int
) -> Decision:
    """Decide what happens to a record that lies at or above the owner's position.

    marker: the row of `marker_key`; result: the row of `result_key`; now_ms: the
    wall clock in milliseconds since the epoch, UTC. Raises nothing.
    """
    return (
        _unreadable_or_elsewhere(arrival, marker, now_ms)
        or _refused(arrival, now_ms)
        or _from_result(arrival, result, now_ms)
        or Render()
    )


def _unreadable_or_elsewhere(arrival: Arrival, marker: MarkerRow | None, now_ms: int) -> Decision | None:
    """Rules 1 and 2. The marker lies in the key's own partition, so a misplaced record goes there first."""
    if arrival.request is None:
        return DeadLetter(arrival.problem or RequestRefused("undecodable"))
    home = arrival.home_partition
    if home is not None and home != arrival.partition and not arrival.rerouted:
        return Reroute(home)
    return Drop("duplicate") if _taken_before(arrival, marker, now_ms) else None


def _refused(arrival: Arrival, now_ms: int) -> Fail | None:
    """Rules 3 and 4."""
    if arrival.home_partition not in (None, arrival.partition):
        return Fail(_wrong_partition(arrival))
    if arrival.problem is not None:
        return Fail(arrival.problem)
    deadline = arrival.request.deadline if arrival.request else None
    return Fail(_late(now_ms - deadline)) if deadline is not None and now_ms > deadline else None


def _taken_before(arrival: Arrival, marker: MarkerRow | None, now_ms: int) -> bool:
    """Answered or not: an unanswered marker is a request that is parked or waiting."""
    if marker is None or marker.expires_at <= now_ms:
        return False
    return (arrival.generation, arrival.attempt) <= (marker.generation, marker.attempt)


def _wrong_partition(arrival: Arrival) -> RenderError:
    return StreamRefused(
        "wrong_partition",
        f"the key belongs in partition {arrival.home_partition}, the record came to "
        f"{arrival.partition} after it was routed once; the topic's partition count and the "
        "workers' differ",
    )


def _late(by_ms: int) -> RenderError:
    return StreamRefused(
        "deadline_exceeded",
        f"the deadline had passed {by_ms:,} ms before the request was looked at; send it again with a later one",
    )


def _from_result(arrival: Arrival, result: ResultRow | None, now_ms: int) -> Decision | None:
    """Rules 5 to 7, or None when the row of this content hash has no answer."""
    if result is None or result.expires_at <= now_ms:
        return None
    if result.status == "ready":
        return _from_ready(result, now_ms)
    if result.status == "failed":
        # A replay asks what an older failure would be today.
        return _from_failed(result) if arrival.generation <= result.generation else None
    # The leading request itself, back from its delay topic, carries attempts + 1: it renders.
    return Wait() if result.status == "retrying" and arrival.attempt <= result.attempts else None


def _from_ready(result: ResultRow, now_ms: int) -> Answer | None:
    if now_ms < result.fresh_until:
        return Answer(stale=False, refresh=False)
    if now_ms >= result.stale_until:
        return None
    # A refresh that failed is not tried again by every request, but after a while.
    return Answer(stale=True, refresh=result.next_attempt_at is None or now_ms >= result.next_attempt_at)


def _from_failed(result: ResultRow) -> Fail | None:
    """A code that this release does not know is no answer: render and find out."""
    if result.error_code not in TABLE:
        return None
    return Fail(error_of(result.error_code or "", result.message), from_cache=True)
