"""A request that fails: its event, its letter, and what is remembered of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from processors.errors import RenderError, RenderRefused, StreamRefused
from schemas.events import RenderFailed, ResultRow
from streams.dead_letters.letter import dead_letter
from streams.deciding import outcomes, parking, stream_headers, waiting
from streams.deciding.side_effects import NotObtained
from streams.ownership.expiring_rows import expiry_of

if TYPE_CHECKING:
    from streams.deciding.step import Step

log = structlog.get_logger(__name__)


def fail(step: Step, error: RenderError, *, from_cache: bool, remember: bool = True, rendered: NotObtained | None = None, marked_attempt: int | None = None) -> str:
    """Failed event, dead letter and negative cache, as the error's row says.

    `remember` is False for a failure that says nothing about the content. `rendered` is what was made and not taken
    by the store. `marked_attempt` is the attempt up to which the request counts as answered, if not its own.
    """
    arrival, identity = step.arrival, step.identity()
    event = outcomes.failed(arrival, error, identity=identity, now_ms=step.now_ms)
    key = arrival.content_hash.encode() if arrival.content_hash else step.event.key
    step.send(step.decider.failed_topic, key, RenderFailed, identity, step.decider.codec.encode(event))
    if error.row.dead_letter and (not from_cache or step.waited):
        write_letter(step, error)
    if not from_cache:
        _remember(step, error, rendered, remember=remember)
    step.mark("failed", identity, marked_attempt)
    # The cause is ours only where the renderer raised what it does not know; its text holds no content.
    log.info("request_failed", error_code=error.code, error_class=str(error.error_class), from_cache=from_cache, exc_info=error.__cause__ if error.code == "render_failed" else None, **step.names)
    return "failed_from_cache" if from_cache else "failed"


def _remember(step: Step, error: RenderError, rendered: NotObtained | None, *, remember: bool) -> None:
    """The negative-cache row; without one, a retry that has failed for its own reason leaves the hash to the next request."""
    arrival = step.arrival
    before = step.stored.row if step.stored else None
    if arrival.content_hash is None or arrival.spec is None or arrival.problem is not None:
        return
    if remember and error.row.negative_cache:
        expires = step.now_ms + step.decider.lifetimes.failure
        step.put_result(outcomes.unready_row(
            "failed", arrival.spec, error, attempts=arrival.attempt, expires_at=expires, now_ms=step.now_ms, before=before,
            generation=arrival.generation,
            rendered=rendered.rendered if rendered else None,
        ))
        if rendered is not None:
            parking.keep_for_the_store(step, rendered)
    elif before is None or not _ends_retry(step, before):
        return
    else:
        step.put_result(replace(before, fresh_until=step.now_ms, stale_until=step.now_ms, expires_at=step.now_ms))
    parking.release_waiting(step)


def _ends_retry(step: Step, before: ResultRow) -> bool:
    """Whether the retry that a row tells of ends with this request: the one that is parked for it, or any behind its time."""
    request = step.arrival.request
    if request is None or before.status != "retrying":
        return False
    parked = waiting.parked_key(step.event.key, request.tenant, request.request_id)
    stored = step.batch.get(parked)
    leads = stored is not None and expiry_of(parked, stored) == before.expires_at
    return leads or before.expires_at <= step.now_ms


def condemn(step: Step) -> str:
    """Fail a request whose handling has killed the worker too often, without handling it again."""
    if step.arrival.request is None:
        return write_letter(step, RenderRefused("renderer_crash"))
    step.read_result()
    return fail(step, RenderRefused("renderer_crash"), from_cache=False)


def lose(step: Step) -> str:
    """Fail a request that did not come back in time; should it come back yet, it is a duplicate."""
    step.read_result()
    kind = fail(step, StreamRefused("retry_lost"), from_cache=False, marked_attempt=step.arrival.attempt + 1)
    # Whatever has become of the row meanwhile: nobody else will tell those that waited.
    parking.let_waiting_go_on(step)
    return kind


def refuse_output(step: Step) -> str:
    """Fail a record whose output was larger than its topic takes; its letter then goes without the value."""
    error = step.arrival.problem or RenderError("output_too_large")
    step.letter_with_value = False
    if step.arrival.request is None:
        return write_letter(step, error)
    step.read_result()
    return fail(step, error if error.row.dead_letter else RenderError("output_too_large"), from_cache=False, remember=False)


def write_letter(step: Step, error: RenderError) -> str:
    """The dead letter of this event."""
    letter = dead_letter(
        step.decider.dead_letter_topic, step.event, step.arrival, error, source=step.claim.source, now_ms=step.now_ms,
        first_failure_ms=stream_headers.moment_ms(step.event.headers, stream_headers.FIRST_FAILURE), with_value=step.letter_with_value,
    )
    step.batch.send(letter)
    log.warning("dead_letter", error_code=error.code, **step.names)
    return "dead_letter"
