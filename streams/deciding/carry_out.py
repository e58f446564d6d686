"""Step 2: decide each event in order and collect what it does in the batch; render where nothing else answers.

The decision is a value (`processors.decide`); this module carries it out and never asks why.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

import structlog

from processors.arrival import Arrival, read_arrival
from processors.decide import Answer, DeadLetter, Decision, Drop, Fail, Render, Reroute, Wait, decide
from processors.errors import RenderError
from processors.render import render
from processors.row_keys import artifact_key, marker_key, result_key
from schemas import cloudevents
from schemas.codec import Codec
from schemas.events import MarkerRow, RenderCompleted, RenderFailed, ResultRow
from streams.dead_letters.letter import dead_letter
from streams.deciding import outcomes, stream_headers
from streams.deciding.delivery import DeliveredEvent, Placement, placement
from streams.ownership.batch import Batch, Headers, OutgoingRecord
from streams.ownership.errors import StateUnusable
from streams.ownership.ownership import Claim
from streams.settings import Settings
from streams.topics import COMPLETED, DEAD_LETTERS, FAILED, REQUESTED

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Decided:
    """How far one call of `decide_events` came.

    Attributes:
        taken: how many of the given events were dealt with, redelivered ones included.
        skipped: True if the next event continues beyond the position; nothing after it was looked at.
        counts: decisions by kind.
    """

    taken: int = 0
    skipped: bool = False
    counts: Counter[str] = field(default_factory=Counter)


class Decider:
    """Carries out decisions for the partitions of one source topic; safe to share between threads."""

    def __init__(self, settings: Settings, codec: Codec) -> None:
        self.settings = settings
        self.codec = codec
        # Rows are nobody's contract but ours: they need no registry, whatever the events use.
        self.row_codec = Codec()
        self.lifetimes = outcomes.Lifetimes(
            int(settings.result_ttl * 1000), int(settings.failure_ttl * 1000), int(settings.request_ttl * 1000)
        )
        self.source = REQUESTED.full_name(settings)
        self.completed_topic = COMPLETED.full_name(settings)
        self.failed_topic = FAILED.full_name(settings)
        self.dead_letter_topic = DEAD_LETTERS.full_name(settings)

    def decide_events(self, events: list[DeliveredEvent], batch: Batch, claim: Claim, too_large: frozenset[int]) -> Decided:
        """Decide events in order until one of the batch's bounds is reached; blocking, renders.

        `too_large` holds offsets whose output was refused for its size: they fail with `output_too_large`.
        """
        decided = Decided()
        started = time.monotonic()
        for event in events:
            where = placement(event.offset, event.continues, batch.position)
            if where is Placement.SKIPPED:
                decided.skipped = True
                break
            if where is Placement.NEXT:
                decided.counts[self._one(event, batch, claim, event.offset in too_large)] += 1
                batch.position = event.offset + 1
            else:
                decided.counts["redelivered"] += 1
            decided.taken += 1
            if batch.output_bytes >= self.settings.batch_bytes or time.monotonic() - started >= self.settings.batch_seconds:
                break
        return decided

    def _one(self, event: DeliveredEvent, batch: Batch, claim: Claim, too_large: bool) -> str:
        """Decide one event; the kind of the decision, for counting."""
        arrival = read_arrival(
            event.key,
            event.value,
            partition=claim.partition,
            partitions=self.settings.partitions,
            generation=stream_headers.number(event.headers, stream_headers.GENERATION, 0) if event.headers else 0,
            attempt=stream_headers.number(event.headers, stream_headers.ATTEMPT, 1) if event.headers else 1,
            rerouted=stream_headers.has(event.headers, stream_headers.REROUTED) if event.headers else False,
            codec=self.codec,
        )
        step = _Step(self, event, arrival, batch, claim, time.time_ns() // 1_000_000)
        if too_large:
            # The record was refused, not the content: other requests of the same hash may fit.
            return step.refuse_output()
        return step.carry_out(decide(arrival, step.read_marker(), step.read_result(), step.now_ms))


@dataclass(slots=True)
class _Step:
    """One event's way through step 2."""

    decider: Decider
    event: DeliveredEvent
    arrival: Arrival
    batch: Batch
    claim: Claim
    now_ms: int
    result: ResultRow | None = None
    letter_with_value: bool = True

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
            case DeadLetter(error):
                self.write_letter(error)
                return "dead_letter"
            case Reroute(partition):
                self.reroute(partition)
                return "rerouted"
            case Drop(reason):
                log.debug("request_dropped", reason=reason, **self.names)
                return reason
            case Fail(error, from_cache):
                return self.fail(error, from_cache=from_cache)
            case Answer(stale, refresh):
                return self.answer(stale=stale, refresh=refresh)
            case Wait():
                raise StateUnusable(
                    f"{self.claim.changelog}-{self.claim.partition} holds a pending retry, which this release does not write: "
                    "start the release that wrote it"
                )
            case Render():
                return self.render()

    def read_marker(self) -> MarkerRow | None:
        """The request's marker under the record's key."""
        request = self.arrival.request
        if request is None:
            return None
        raw = self.batch.get(marker_key(self.event.key, request.tenant, request.request_id))
        return None if raw is None else self.decider.row_codec.decode(raw, MarkerRow)

    def read_result(self) -> ResultRow | None:
        """The row of this content hash, where the record can be answered from it."""
        if self.arrival.content_hash is None or self.arrival.problem is not None:
            return None
        raw = self.batch.get(result_key(self.arrival.content_hash))
        self.result = None if raw is None else self.decider.row_codec.decode(raw, ResultRow)
        return self.result

    def render(self) -> str:
        """Render, keep the result, answer with it."""
        try:
            row, artifact = self._render_and_keep()
        except RenderError as error:
            return self.fail(error, from_cache=False)
        self._complete(row, artifact, "rendered")
        return "rendered"

    def answer(self, *, stale: bool, refresh: bool) -> str:
        """Answer from the row; after the answer, render anew if asked to."""
        content_hash = self.arrival.content_hash
        assert self.result is not None
        assert content_hash is not None
        artifact = self.batch.get(artifact_key(content_hash))
        if artifact is None:  # never serve a result without its bytes: make them again
            log.error("artifact_row_missing", **self.names)
            return self.render()
        source = "stale" if stale else "cache"
        self._complete(self.result, artifact, source)
        if refresh:
            try:
                self._render_and_keep()
            except RenderError as error:
                log.warning("refresh_failed", error_code=error.code, **self.names)
        return source

    def _render_and_keep(self) -> tuple[ResultRow, bytes]:
        arrival, content_hash = self.arrival, self.arrival.content_hash
        assert arrival.spec is not None
        assert content_hash is not None
        rendered = render(arrival.spec)
        reference = outcomes.result_ref(self.claim.changelog, self.claim.partition, content_hash)
        row = outcomes.ready_row(arrival, rendered, reference=reference, lifetimes=self.decider.lifetimes, now_ms=self.now_ms, before=self.result)
        self._put(result_key(content_hash), self.decider.row_codec.encode(row))
        self._put(artifact_key(content_hash), rendered.artifact)
        return row, rendered.artifact

    def _complete(self, row: ResultRow, artifact: bytes, source: str) -> None:
        event = outcomes.completed(self.arrival, row, artifact, identity=self._identity(), source=source, now_ms=self.now_ms)
        self._send(self.decider.completed_topic, event.content_hash.encode(), event)
        self._mark("completed", event.event_id)
        log.debug("request_completed", source=source, **self.names)

    def fail(self, error: RenderError, *, from_cache: bool, remember: bool = True) -> str:
        """Failed event, dead letter and negative cache, as the error's row says.

        `remember` is False for a failure that says nothing about the content.
        """
        arrival = self.arrival
        event = outcomes.failed(arrival, error, identity=self._identity(), now_ms=self.now_ms)
        key = arrival.content_hash.encode() if arrival.content_hash else self.event.key
        self._send(self.decider.failed_topic, key, event)
        if error.row.dead_letter and not from_cache:
            self.write_letter(error)
        if remember and error.row.negative_cache and not from_cache and arrival.content_hash is not None and arrival.problem is None:
            row = outcomes.failed_row(error, arrival.attempt, self.decider.lifetimes, self.now_ms)
            self._put(result_key(arrival.content_hash), self.decider.row_codec.encode(row))
        self._mark("failed", event.event_id)
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
        request = self.arrival.request
        assert request is not None
        row = outcomes.marker(self.arrival, outcome, identity, self.decider.lifetimes, self.now_ms)
        self._put(marker_key(self.event.key, request.tenant, request.request_id), self.decider.row_codec.encode(row))

    def _identity(self) -> str:
        return outcomes.event_id(self.claim.source_id, self.claim.partition, self.event.offset, "outcome")

    def _source_uri(self) -> str:
        return f"/{self.decider.settings.app_id}/{self.claim.source}/{self.claim.partition}"

    def _put(self, key: bytes, value: bytes) -> None:
        self.batch.put(key, value, self.event.offset)

    def _send(self, topic: str, key: bytes | None, event: RenderCompleted | RenderFailed) -> None:
        headers: Headers = list(cloudevents.headers(event, self._source_uri(), cloudevents.traceparent_of(self.event.headers)))
        self.batch.send(OutgoingRecord(topic, key, self.decider.codec.encode(event), headers, self.event.offset))
