"""One submission's way through step 2: what its decision does to the batch.

The decision is a value (`processors.intake`); this module carries it out and never asks why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from processors.arrival import Arrival
from processors.canonical import invalid_key
from processors.decide import DeadLetter, Drop, Reroute
from processors.errors import RenderError, RequestRefused, StreamRefused
from processors.intake import (
    FORWARDED_STATE,
    REFUSED_STATE,
    Forward,
    IntakeDecision,
    Refuse,
    claim_key,
    forwarded_id,
    refused_id,
    unclaimed_id,
)
from processors.partitioner import partition_for
from processors.submission import SubmissionArrival
from schemas import cloudevents
from schemas.events import ClaimRow, RenderFailed, RenderRequested
from streams.dead_letters.letter import dead_letter
from streams.deciding import outcomes, stream_headers
from streams.deciding.delivery import DeliveredEvent
from streams.intake import headers
from streams.ownership.batch import Batch, Headers, OutgoingRecord
from streams.ownership.expiring_rows import expiring
from streams.ownership.ownership import Claim

if TYPE_CHECKING:
    from streams.intake.decider import IntakeDecider

log = structlog.get_logger(__name__)


class IntakeStep:
    """One event, the batch that it is decided for, and the claim under which that happens."""

    __slots__ = ("arrival", "batch", "claim", "decider", "event", "letter_with_value", "now_ms")

    def __init__(  # what one event's way is made of
        self, decider: IntakeDecider, event: DeliveredEvent, arrival: SubmissionArrival, batch: Batch, claim: Claim, now_ms: int
    ) -> None:
        self.decider = decider
        self.event = event
        self.arrival = arrival
        self.batch = batch
        self.claim = claim
        self.now_ms = now_ms
        self.letter_with_value = True

    def carry_out(self, decision: IntakeDecision) -> str:
        """Do what the decision says to the batch; its kind, for counting."""
        match decision:
            case Forward():
                return self.forward()
            case Drop(reason):
                if self.decider.tells_each_request:
                    log.debug("submission_dropped", reason=reason, **self._names(None))
                return reason
            case Refuse(error, claims):
                return self.refuse(error, claims=claims)
            case DeadLetter(error):
                self._write_letter(error, None)
                return "dead_letter"
            case Reroute(partition):
                return self.reroute(partition)

    def forward(self) -> str:
        """Send the request on to the partition of its content hash, and claim the key with it."""
        arrival = self.arrival
        fields, identity, content_hash = arrival.fields, arrival.identity, arrival.content_hash
        assert fields is not None
        assert identity is not None
        assert content_hash is not None
        request = RenderRequested(
            request_id=forwarded_id(content_hash, identity),
            requested_at=self._requested_at(),
            **{name: getattr(fields, name) for name in fields.__slots__ if name != "requested_at"},
        )
        trace = cloudevents.traceparent_of(self.event.headers)
        described: Headers = [*cloudevents.headers(request, self._publisher, trace, content_hash=content_hash)]
        self.batch.send(OutgoingRecord(
            self.decider.requested_topic, content_hash.encode(), self.decider.codec.encode(request),
            [*described, *headers.kept(self.event.headers, arrival.generation)],
            self.event.offset, partition_for(content_hash.encode(), self.decider.settings.partitions),
        ))
        self._claim(request.request_id, FORWARDED_STATE, None)
        if self.decider.tells_each_request:
            log.debug("submission_forwarded", **self._names(request.request_id))
        return "forwarded"

    def refuse(self, error: RenderError, *, claims: bool) -> str:
        """Failed event and dead letter, as the error's row says; the claim, where the key is free for it."""
        arrival = self.arrival
        if claims:
            assert arrival.identity is not None
            request_id = refused_id(arrival.fingerprint, arrival.identity)
            self._claim(request_id, REFUSED_STATE, error.code)
        else:
            request_id = unclaimed_id(self.claim.source_id, self.claim.partition, self.event.offset)
        self._fail(request_id, error)
        if error.row.dead_letter:
            self._write_letter(error, request_id)
        log.info("submission_refused", error_code=error.code, error_class=str(error.error_class), **self._names(request_id))
        return "conflict" if error.code == "idempotency_conflict" else "refused"

    def refuse_output(self, decision: IntakeDecision) -> str:
        """Fail a record whose output was larger than its topic takes; its letter then goes without the value."""
        self.letter_with_value = False
        if not self.arrival.readable:
            self._write_letter(self.arrival.problem or RequestRefused("undecodable"), None)
            return "dead_letter"
        claims = isinstance(decision, Forward) or (isinstance(decision, Refuse) and decision.claims)
        problem = decision.error if isinstance(decision, Refuse) and decision.error.row.dead_letter else None
        return self.refuse(problem or StreamRefused("request_too_large"), claims=claims)

    def reroute(self, partition: int) -> str:
        """Send the record under its right key to the partition of that key, marked so that it can't go round in circles."""
        assert self.arrival.identity is not None
        mark = (stream_headers.REROUTED, b"%d" % self.claim.partition)
        key = self.arrival.identity.key
        self.batch.send(OutgoingRecord(self.decider.source, key, self.event.value, [*self.event.headers, mark], self.event.offset, partition))
        log.info("submission_rerouted", to_partition=partition, key_was_right=self.event.key == key, **self._names(None))
        return "rerouted"

    def _fail(self, request_id: str, error: RenderError) -> None:
        arrival = self.arrival
        identity = outcomes.event_id(self.claim.source_id, self.claim.partition, self.event.offset, "outcome")
        event = outcomes.failed(self._as_request(request_id, error), error, identity=identity, now_ms=self.now_ms)
        trace = cloudevents.traceparent_of(self.event.headers)
        described: Headers = [*cloudevents.headers_of(RenderFailed, identity, self.now_ms, arrival.content_hash, self._publisher, trace)]
        key = (arrival.content_hash or invalid_key(request_id)).encode()
        self.batch.send(OutgoingRecord(self.decider.failed_topic, key, self.decider.codec.encode(event), described, self.event.offset))

    def _as_request(self, request_id: str | None, error: RenderError) -> Arrival:
        """The submission as the arrival of a request, for what events and letters tell of both; without an id, of none."""
        arrival = self.arrival
        named = None if request_id is None else RenderRequested(
            request_id=request_id, tenant=arrival.tenant, idempotency_key=arrival.idempotency_key, content="", requested_at=self._requested_at()
        )
        return Arrival(
            key=self.event.key, size_bytes=len(self.event.value or b""), partition=self.claim.partition, rerouted=arrival.rerouted,
            generation=arrival.generation, attempt=1, request=named, spec=None, content_hash=arrival.content_hash, problem=error,
        )

    def _write_letter(self, error: RenderError, request_id: str | None) -> None:
        self.batch.send(dead_letter(
            self.decider.dead_letter_topic, self.event, self._as_request(request_id, error), error,
            source=self.claim.source, now_ms=self.now_ms, with_value=self.letter_with_value,
        ))
        log.warning("dead_letter", error_code=error.code, **self._names(request_id))

    def _claim(self, request_id: str, state: str, error_code: str | None) -> None:
        arrival = self.arrival
        assert arrival.identity is not None
        row = ClaimRow(
            request_id=request_id,
            content_hash=arrival.content_hash,
            fingerprint=arrival.fingerprint,
            generation=arrival.generation,
            state=state,
            error_code=error_code,
            expires_at=self.now_ms + self.decider.claim_ms,
        )
        self.batch.put(claim_key(arrival.identity), expiring(self.decider.row_codec.encode(row), row.expires_at), self.event.offset)

    def _requested_at(self) -> int:
        """As the publisher says; else when the broker took the record."""
        fields = self.arrival.fields
        if fields is not None and fields.requested_at is not None:
            return fields.requested_at
        return self.now_ms if self.event.timestamp_ms is None else self.event.timestamp_ms

    @property
    def _publisher(self) -> str:
        return f"/{self.decider.settings.app_id}/{self.claim.source}/{self.claim.partition}"

    def _names(self, request_id: str | None) -> dict[str, str | None]:
        """What every log line about a submission carries; never the content, nor the client's key."""
        return {"content_hash": self.arrival.content_hash, "request_id": request_id, "job_id": f"{self.claim.partition}-{self.event.offset}"}
