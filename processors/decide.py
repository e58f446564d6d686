"""The decision about one request: pure, no clock, no I/O.

`decide` returns a value; the code that carries it out never asks why. The rules
stand in the order of the design (section 6), each in a function of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from processors.arrival import MAX_REQUEST_BYTES, Arrival, read_arrival
from processors.errors import TABLE, RenderError, StreamRefused, error_of
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
    request = arrival.request
    if request is None:
        return DeadLetter(arrival.problem or RenderError("undecodable"))
    misplaced = arrival.home_partition not in (None, arrival.partition)
    if misplaced and not arrival.rerouted:
        return Reroute(arrival.home_partition or 0)
    if _taken_before(arrival, marker, now_ms):
        return Drop("duplicate")
    if misplaced:
        return Fail(_wrong_partition(arrival))
    if arrival.problem is not None:
        return Fail(arrival.problem)
    if request.deadline is not None and now_ms > request.deadline:
        late = now_ms - request.deadline
        return Fail(
            StreamRefused(
                "deadline_exceeded",
                f"the deadline had passed {late:,} ms before the request was looked at; "
                "send it again with a later one",
            )
        )
    return _from_result(arrival, result, now_ms) or Render()


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


def _from_result(arrival: Arrival, result: ResultRow | None, now_ms: int) -> Decision | None:
    """Answer from the row of this content hash, or None when it has no answer."""
    if result is None or (result.expires_at or 0) <= now_ms:
        return None
    if result.status == "ready":
        if now_ms < (result.fresh_until or 0):
            return Answer(stale=False, refresh=False)
        if now_ms < (result.stale_until or 0):
            return Answer(stale=True, refresh=True)
        return None
    if result.status == "failed":
        # A code that this release does not know is no answer: render and find out.
        known = result.error_code in TABLE
        error = error_of(result.error_code, result.message) if known and result.error_code else None
        return Fail(error, from_cache=True) if error else None
    if result.status == "retrying" and arrival.attempt <= result.attempts:
        return Wait()
    # The leading request itself, back from its delay topic, carries attempts + 1.
    return None
