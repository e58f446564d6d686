"""A request whose artifact is not to be had now: parked for a retry, or waiting for the one that leads its hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from processors.retry import Parking
from processors.row_keys import artifact_key
from streams.deciding import outcomes, stream_headers, waiting
from streams.deciding.side_effects import NotObtained
from streams.ownership.batch import OutgoingRecord

if TYPE_CHECKING:
    from streams.deciding.step import Step

log = structlog.get_logger(__name__)


def park(step: Step, found: NotObtained, parking: Parking) -> None:
    """Send the request to its delay topic; row, bytes and marker stay here until it comes back."""
    content_hash, spec, request = step.content_hash, step.arrival.spec, step.arrival.request
    assert spec is not None
    assert request is not None
    lost_after = parking.due_ms + step.decider.lifetimes.grace
    step.put_result(outcomes.unready_row(
        "retrying", spec, found.error, attempts=step.arrival.attempt, next_attempt_at=parking.due_ms, expires_at=lost_after,
        now_ms=step.now_ms, before=step.stored.row if step.stored else None, rendered=found.rendered,
    ))
    keep_for_the_store(step, found)
    step.mark(None, None)
    row = waiting.waiting_row(step.event, now_ms=step.now_ms, expires_ms=lost_after)
    step.put_expiring(waiting.parked_key(step.event.key, request.tenant, request.request_id), step.decider.row_codec.encode(row), lost_after)
    topic = step.decider.retry_topics[parking.topic_number - 1][0]
    marks = stream_headers.Marks(step.arrival.generation, step.arrival.attempt + 1)
    headers = stream_headers.parked(step.event.headers, marks, parking.due_ms, found.error.code, step.now_ms)
    step.batch.send(OutgoingRecord(topic, step.event.key, step.event.value, headers, step.event.offset, parking.partition))
    log.info("request_parked", error_code=found.error.code, attempt=step.arrival.attempt, due_ms=parking.due_ms, content_hash=content_hash, request_id=request.request_id)


def keep_for_the_store(step: Step, found: NotObtained) -> None:
    """The bytes that the store did not take: the next attempt only puts them."""
    if found.rendered is not None:
        step.put(artifact_key(step.content_hash), found.rendered.artifact)


def wait(step: Step) -> str:
    """Keep the request beside the pending retry of its hash."""
    expires = step.now_ms + step.decider.lifetimes.request
    row = waiting.waiting_row(step.event, now_ms=step.now_ms, expires_ms=expires)
    step.put_expiring(waiting.waiting_key(step.content_hash, step.event.offset), step.decider.row_codec.encode(row), expires)
    step.mark(None, None)
    if step.arrival.attempt > 1:  # it came back to find another leading: it must not be parked and waiting at once
        forget_parked(step)
    return "waiting"


def release_waiting(step: Step) -> None:
    """A retry has come to its end: the requests that waited for it are decided again."""
    if step.stored is not None and step.stored.row.status == "retrying":
        let_waiting_go_on(step)


def let_waiting_go_on(step: Step) -> None:
    """Those that waited for the retry of this hash are decided again, whatever has become of its row."""
    if step.batch.scan(waiting.waiting_prefix(step.content_hash), 1):
        step.put(waiting.answerable_key(step.content_hash), b"1")


def forget_parked(step: Step) -> None:
    """The request has its outcome: it waits no more."""
    request = step.arrival.request
    if request is not None:
        parked = waiting.parked_key(step.event.key, request.tenant, request.request_id)
        if step.batch.get(parked) is not None:
            step.put(parked, None)
