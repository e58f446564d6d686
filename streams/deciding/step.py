"""One event's way through step 2: what its decision does to the batch.

The decision is a value (`processors.decide`); this module carries it out and never asks why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from processors.arrival import Arrival
from processors.decide import Answer, DeadLetter, Decision, Drop, Fail, Render, Reroute, Wait
from processors.errors import RenderError
from processors.render import render
from processors.row_keys import artifact_key, marker_key, result_key
from schemas import cloudevents
from schemas.events import MarkerRow, RenderCompleted, RenderFailed, ResultRow
from streams.dead_letters.letter import dead_letter
from streams.deciding import outcomes, stream_headers
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.outcomes import StoredResult
from streams.ownership.batch import Batch, Headers, OutgoingRecord
from streams.ownership.errors import StateUnusable
from streams.ownership.ownership import Claim

if TYPE_CHECKING:
    from streams.deciding.carry_out import Decider

log = structlog.get_logger(__name__)


class Step:
    """One event, the batch that it is decided for, and the claim under which that happens."""

    __slots__ = ("arrival", "batch", "claim", "decider", "event", "letter_with_value", "marker_name", "now_ms", "stored")

    def __init__(self, decider: Decider, event: DeliveredEvent, arrival: Arrival, batch: Batch, claim: Claim, now_ms: int) -> None:
        self.decider = decider
        self.event = event
        self.arrival = arrival
        self.batch = batch
        self.claim = claim
        self.now_ms = now_ms
        self.stored: StoredResult | None = None
        self.letter_with_value = True
        request = arrival.request
        self.marker_name = b"" if request is None else marker_key(event.key, request.tenant, request.request_id)

    @property
    def names(self) -> dict[str, str | None]:
        """What every log line about a request carries; never the content."""
        request = self.arrival.request
        return {
            "content_hash": self.arrival.content_hash,
            "request_id": request.request_id if request else None,
            "job_id": f"{self.claim.partition}-{self.event.offset}",
        }

    def carry_out(self, decision: Decision) -> str:
        """Do what the decision says to the batch; its kind, for counting."""
        match decision:
            case Answer(stale, refresh):
                return self.answer(stale=stale, refresh=refresh)
            case Render():
                return self.render()
            case Drop(reason):
                if self.decider.tells_each_request:
                    log.debug("request_dropped", reason=reason, **self.names)
                return reason
            case Fail(error, from_cache):
                return self.fail(error, from_cache=from_cache)
            case DeadLetter(error):
                self.write_letter(error)
                return "dead_letter"
            case Reroute(partition):
                self.reroute(partition)
                return "rerouted"
            case Wait():
                raise StateUnusable(
                    f"{self.claim.changelog}-{self.claim.partition} holds a pending retry, which this release does not write: "
                    "start the release that wrote it"
                )

    def read_marker(self) -> MarkerRow | None:
        """The request's marker under the record's key."""
        if self.arrival.request is None:
            return None
        raw = self.batch.get(self.marker_name)
        return None if raw is None else self.decider.row_codec.decode(raw, MarkerRow)

    def read_result(self) -> ResultRow | None:
        """The row of this content hash, where the record can be answered from it."""
        if self.arrival.content_hash is None or self.arrival.problem is not None:
            return None
        raw = self.batch.get(result_key(self.arrival.content_hash))
        if raw is None:
            return None
        self.stored = self.decider.stored_result(raw)
        return self.stored.row

    def render(self) -> str:
        """Render, keep the result, answer with it."""
        try:
            stored, artifact = self._render_and_keep()
        except RenderError as error:
            return self.fail(error, from_cache=False)
        self._complete(stored, artifact, "rendered")
        return "rendered"

    def answer(self, *, stale: bool, refresh: bool) -> str:
        """Answer from the row; after the answer, render anew if asked to."""
        content_hash = self.arrival.content_hash
        assert self.stored is not None
        assert content_hash is not None
        artifact = self.batch.get(artifact_key(content_hash))
        if artifact is None:  # never serve a result without its bytes: make them again
            log.error("artifact_row_missing", **self.names)
            return self.render()
        source = "stale" if stale else "cache"
        self._complete(self.stored, artifact, source)
        if refresh:
            try:
                self._render_and_keep()
            except RenderError as error:
                log.warning("refresh_failed", error_code=error.code, **self.names)
        return source

    def _render_and_keep(self) -> tuple[StoredResult, bytes]:
        spec, content_hash = self.arrival.spec, self.arrival.content_hash
        assert spec is not None
        assert content_hash is not None
        rendered = render(spec)
        reference = outcomes.result_ref(self.claim.changelog, self.claim.partition, content_hash)
        before = self.stored.row if self.stored else None
        row = outcomes.ready_row(spec, content_hash, rendered, reference=reference, lifetimes=self.decider.lifetimes, now_ms=self.now_ms, before=before)
        self._put(result_key(content_hash), self.decider.row_codec.encode(row))
        self._put(artifact_key(content_hash), rendered.artifact)
        return StoredResult(row), rendered.artifact

    def _complete(self, stored: StoredResult, artifact: bytes, source: str) -> None:
        content_hash, identity = self.arrival.content_hash, self._identity()
        assert content_hash is not None
        sections = outcomes.completed(self.arrival, stored, artifact, identity=identity, source=source, now_ms=self.now_ms)
        value = self.decider.codec.framed(RenderCompleted, *sections)
        self._send(self.decider.completed_topic, content_hash.encode(), RenderCompleted, identity, value)
        self._mark("completed", identity)
        if self.decider.tells_each_request:
            log.debug("request_completed", source=source, **self.names)

    def fail(self, error: RenderError, *, from_cache: bool, remember: bool = True) -> str:
        """Failed event, dead letter and negative cache, as the error's row says.

        `remember` is False for a failure that says nothing about the content.
        """
        arrival, identity = self.arrival, self._identity()
        event = outcomes.failed(arrival, error, identity=identity, now_ms=self.now_ms)
        key = arrival.content_hash.encode() if arrival.content_hash else self.event.key
        self._send(self.decider.failed_topic, key, RenderFailed, identity, self.decider.codec.encode(event))
        if error.row.dead_letter and not from_cache:
            self.write_letter(error)
        if remember and error.row.negative_cache and not from_cache and arrival.content_hash is not None and arrival.problem is None:
            row = outcomes.failed_row(error, arrival.attempt, self.decider.lifetimes, self.now_ms)
            self._put(result_key(arrival.content_hash), self.decider.row_codec.encode(row))
        self._mark("failed", identity)
        # The cause is ours only where the renderer raised what it does not know; its text holds no content.
        log.info("request_failed", error_code=error.code, error_class=str(error.error_class), from_cache=from_cache, exc_info=error.__cause__ if error.code == "render_failed" else None, **self.names)
        return "failed_from_cache" if from_cache else "failed"

    def refuse_output(self) -> str:
        """Fail a record whose output was larger than its topic takes; its letter then goes without the value."""
        error = self.arrival.problem or RenderError("output_too_large")
        self.letter_with_value = False
        if self.arrival.request is None:
            self.write_letter(error)
            return "dead_letter"
        return self.fail(error if error.row.dead_letter else RenderError("output_too_large"), from_cache=False, remember=False)

    def write_letter(self, error: RenderError) -> None:
        """The dead letter of this event."""
        letter = dead_letter(
            self.decider.dead_letter_topic, self.event, self.arrival, error,
            source=self.claim.source, now_ms=self.now_ms, with_value=self.letter_with_value,
        )
        self.batch.send(letter)
        log.warning("dead_letter", error_code=error.code, **self.names)

    def reroute(self, partition: int) -> None:
        """Send the record as it is to the partition of its key, marked so that it can't go round in circles."""
        mark = (stream_headers.REROUTED, b"%d" % self.claim.partition)
        self.batch.send(OutgoingRecord(self.decider.source, self.event.key, self.event.value, [*self.event.headers, mark], self.event.offset, partition))
        log.info("request_rerouted", to_partition=partition, **self.names)

    def _mark(self, outcome: str, identity: str) -> None:
        row = outcomes.marker(self.arrival, outcome, identity, self.decider.lifetimes, self.now_ms)
        self._put(self.marker_name, self.decider.row_codec.encode(row))

    def _identity(self) -> str:
        return outcomes.event_id(self.claim.source_id, self.claim.partition, self.event.offset, "outcome")

    def _put(self, key: bytes, value: bytes) -> None:
        self.batch.put(key, value, self.event.offset)

    def _send(self, topic: str, key: bytes | None, kind: type[RenderCompleted | RenderFailed], identity: str, value: bytes) -> None:
        publisher = f"/{self.decider.settings.app_id}/{self.claim.source}/{self.claim.partition}"
        trace = cloudevents.traceparent_of(self.event.headers)
        headers: Headers = [*cloudevents.headers_of(kind, identity, self.now_ms, self.arrival.content_hash, publisher, trace)]
        self.batch.send(OutgoingRecord(topic, key, value, headers, self.event.offset))
