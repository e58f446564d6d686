"""One event's way through step 2: what its decision does to the batch.

The decision is a value (`processors.decide`); this module carries it out and never asks why. Whatever needs something
from outside asks for it first (NotPrepared), before anything is changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

import structlog

from processors.arrival import Arrival
from processors.decide import Answer, DeadLetter, Decision, Drop, Fail, Render, Reroute, Wait
from processors.errors import ErrorClass, RenderError, RenderRefused
from processors.retry import after_failure
from processors.row_keys import artifact_key, marker_key, result_key
from schemas import cloudevents
from schemas.events import MarkerRow, RenderCompleted, RenderFailed, ResultRow
from streams.deciding import control, failing, outcomes, parking, stream_headers
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.outcomes import StoredResult
from streams.deciding.side_effects import Found, Need, NotObtained, NotPrepared, Obtained, Origin
from streams.ownership.batch import Batch, Headers, OutgoingRecord
from streams.ownership.expiring_rows import expiring, without_expiry
from streams.ownership.ownership import Claim

if TYPE_CHECKING:
    from streams.deciding.carry_out import Decider

log = structlog.get_logger(__name__)

class Step:
    """One event, the batch that it is decided for, and the claim under which that happens.

    Attributes:
        waited: the event is one that waited for the retry of its hash, decided again.
    """

    __slots__ = ("arrival", "batch", "claim", "decider", "event", "letter_with_value", "marker_name", "now_ms", "prepared", "stored", "waited")

    def __init__(  # noqa: PLR0913, PLR0917  # what an event is decided from
        self, decider: Decider, event: DeliveredEvent, arrival: Arrival, batch: Batch, claim: Claim, prepared: dict[str, Found], now_ms: int,
        *, waited: bool = False,
    ) -> None:
        self.decider = decider
        self.event = event
        self.arrival = arrival
        self.batch = batch
        self.claim = claim
        self.prepared = prepared
        self.now_ms = now_ms
        self.waited = waited
        self.stored: StoredResult | None = None
        self.letter_with_value = True
        request = arrival.request
        self.marker_name = b"" if request is None else marker_key(event.key, request.tenant, request.request_id)

    @classmethod
    def unread(cls, decider: Decider, event: DeliveredEvent, batch: Batch, claim: Claim, now_ms: int) -> Self:
        """An event of which only the coordinates are looked at."""
        size = len(event.value or b"")
        arrival = Arrival(event.key, size, claim.partition, False, 0, 1, None, None, None, RenderRefused("renderer_crash"))
        return cls(decider, event, arrival, batch, claim, {}, now_ms)

    @property
    def names(self) -> dict[str, str | None]:
        """What every log line about a request carries; never the content."""
        request = self.arrival.request
        return {
            "content_hash": self.arrival.content_hash,
            "request_id": request.request_id if request else None,
            "job_id": f"{self.claim.partition}-{self.event.offset}",
        }

    def carry_out(self, decision: Decision) -> str:  # noqa: PLR0911  # one return a kind of decision
        """Do what the decision says to the batch; its kind, for counting.

        Raises:
            NotPrepared: it needs what is not there yet; the batch is as it was.
        """
        match decision:
            case Answer(stale, refresh):
                return self.answer(stale=stale, refresh=refresh)
            case Render():
                return self.render()
            case Drop(reason):
                return self.drop(reason)
            case Fail(error, from_cache):
                return failing.fail(self, error, from_cache=from_cache)
            case DeadLetter(error):
                return failing.write_letter(self, error)
            case Reroute(partition):
                return self.reroute(partition)
            case Wait():
                return parking.wait(self)

    def drop(self, reason: str) -> str:
        """Nothing: the request has been taken before."""
        if self.decider.tells_each_request:
            log.debug("request_dropped", reason=reason, **self.names)
        return reason

    def read_marker(self) -> MarkerRow | None:
        """The request's marker under the record's key."""
        if self.arrival.request is None:
            return None
        raw = self.batch.get(self.marker_name)
        return None if raw is None else self.decider.row_codec.decode(without_expiry(raw), MarkerRow)

    def read_result(self) -> ResultRow | None:
        """The row of this content hash, where the record can be answered from it."""
        if self.arrival.content_hash is None or self.arrival.problem is not None:
            return None
        raw = self.batch.get(result_key(self.arrival.content_hash))
        if raw is None:
            return None
        self.stored = self.decider.stored_result(raw)
        return None if self._invalidated(self.stored.row) else self.stored.row

    def _invalidated(self, row: ResultRow) -> bool:
        """Whether the results of the row's profile are to answer only if they are younger."""
        since = self.batch.get(control.invalidated_key(row.profile))
        return since is not None and row.status != "retrying" and row.updated_at <= int(since)

    def unmet(self, decision: Render | Answer) -> Need | None:
        """What this decision would ask for; None if everything is there."""
        try:
            if isinstance(decision, Render):
                self._found()
            else:
                self._for_answer(refresh=decision.refresh)
        except NotPrepared as missing:
            return missing.need
        return None

    def render(self) -> str:
        """Answer with an artifact that is made now, or was made by an attempt before."""
        found = self._found()
        if isinstance(found, NotObtained):
            return self._without_artifact(found)
        self._complete(self._keep(found), found.rendered.artifact, "rendered")
        return "rendered"

    def answer(self, *, stale: bool, refresh: bool) -> str:
        """Answer from the row; if asked to, with a fresh one made for those that come later."""
        artifact, refreshed = self._for_answer(refresh=refresh)
        if isinstance(artifact, NotObtained):
            return self._without_artifact(artifact)
        if isinstance(artifact, Obtained):  # the store had no right bytes: they were made again
            self._complete(self._keep(artifact), artifact.rendered.artifact, "rendered")
            return "rendered"
        assert self.stored is not None
        source = "stale" if stale else "cache"
        self._complete(self.stored, artifact, source)
        if isinstance(refreshed, Obtained):
            self._keep(refreshed)
        elif isinstance(refreshed, NotObtained):
            self._put_off_refresh(refreshed.error)
        return source

    def _for_answer(self, *, refresh: bool) -> tuple[bytes | Obtained | NotObtained, Found | None]:
        """The artifact of the ready row, or one made again; beside it the fresh one, if that is asked for."""
        content_hash = self.content_hash
        assert self.stored is not None
        if self.decider.side_effects.store is not None:
            found = self._found()
            if isinstance(found, Obtained) and found.origin is Origin.STORED:
                # Read whole, with its checksum: as good as made anew.
                return found.rendered.artifact, found if refresh else None
            return found, None
        artifact = self.batch.get(artifact_key(content_hash))
        if artifact is None:  # never serve a result without its bytes: make them again
            log.error("artifact_row_missing", **self.names)
            return self._found(), None
        return artifact, self._found() if refresh else None

    def _found(self) -> Found:
        """What was prepared for this hash.

        Raises:
            NotPrepared: nothing was.
        """
        content_hash, spec, request = self.content_hash, self.arrival.spec, self.arrival.request
        found = self.prepared.get(content_hash)
        if found is not None:
            return found
        assert spec is not None
        assert request is not None
        stored = self.decider.side_effects.store is not None
        apart = self.decider.settings.isolation == "tenant"
        raise NotPrepared(Need(
            content_hash, spec, request.tenant if apart else None, self._known(),
            self.batch.get(artifact_key(content_hash)) if stored else None,
            self.arrival.attempt > 1 or self.event.offset < self.batch.source_end,
        ))

    def _known(self) -> ResultRow | None:
        """What the row tells of an artifact that may still be used: none that is past its time."""
        row = self.stored.row if self.stored else None
        if row is None or (row.status == "ready" and (self.now_ms >= row.stale_until or self._invalidated(row))):
            return None
        return row

    @property
    def content_hash(self) -> str:
        """Of a request with a canonical form; only those are answered."""
        assert self.arrival.content_hash is not None
        return self.arrival.content_hash

    def _keep(self, found: Obtained) -> StoredResult:
        """Write the ready row, and the artifact where the table is its store."""
        content_hash, spec = self.content_hash, self.arrival.spec
        assert spec is not None
        reference = found.reference or outcomes.result_ref(self.claim.changelog, self.claim.partition, content_hash)
        row = outcomes.ready_row(
            spec, content_hash, found.rendered, reference=reference, lifetimes=self.decider.lifetimes, now_ms=self.now_ms,
            before=self.stored.row if self.stored else None, attempts=self.arrival.attempt,
        )
        self.put_result(row)
        if found.reference is None:
            self.put(artifact_key(content_hash), found.rendered.artifact)
        elif self.batch.get(artifact_key(content_hash)) is not None:  # the store has what the owner had kept for it
            self.put(artifact_key(content_hash), None)
        # For the next request of the hash it is what the store holds.
        self.prepared[content_hash] = replace(found, origin=Origin.STORED)
        parking.release_waiting(self)
        return StoredResult(row)

    def _put_off_refresh(self, error: RenderError) -> None:
        """The stale row goes on answering; not every request of it tries again."""
        assert self.stored is not None
        first_delay = self.decider.retry_policy.delays_ms[0]
        self.put_result(replace(self.stored.row, next_attempt_at=self.now_ms + first_delay))
        log.warning("refresh_failed", error_code=error.code, **self.names)

    def _without_artifact(self, found: NotObtained) -> str:
        """Park the request for what passes, as long as attempts are left; else fail it."""
        if found.error.error_class is not ErrorClass.TRANSIENT:
            return failing.fail(self, found.error, from_cache=False)
        partitions = self.decider.retry_topics[0][1]
        plan = after_failure(self.arrival.attempt, self.now_ms, self.decider.retry_policy, partitions, self.decider.draw(partitions))
        if plan is None:
            return failing.fail(self, found.error, from_cache=False, rendered=found)
        parking.park(self, found, plan)
        return "parked"

    def _complete(self, stored: StoredResult, artifact: bytes, source: str) -> None:
        content_hash, identity = self.content_hash, self.identity()
        sections = outcomes.completed(self.arrival, stored, artifact, identity=identity, source=source, now_ms=self.now_ms)
        value = self.decider.codec.framed(RenderCompleted, *sections)
        self.send(self.decider.completed_topic, content_hash.encode(), RenderCompleted, identity, value)
        self.mark("completed", identity)
        if self.decider.tells_each_request:
            log.debug("request_completed", source=source, **self.names)

    def reroute(self, partition: int) -> str:
        """Send the record as it is to the partition of its key, marked so that it can't go round in circles."""
        mark = (stream_headers.REROUTED, b"%d" % self.claim.partition)
        self.batch.send(OutgoingRecord(self.decider.source, self.event.key, self.event.value, [*self.event.headers, mark], self.event.offset, partition))
        log.info("request_rerouted", to_partition=partition, **self.names)
        return "rerouted"

    def mark(self, outcome: str | None, identity: str | None, attempt: int | None = None) -> None:
        """The request's marker: taken where `outcome` is None, else answered up to `attempt`, by default its own."""
        row = outcomes.marker(self.arrival, attempt or self.arrival.attempt, outcome, identity, self.decider.lifetimes, self.now_ms)
        self.put_expiring(self.marker_name, self.decider.row_codec.encode(row), row.expires_at)
        if outcome is not None and (self.arrival.attempt > 1 or attempt is not None):
            parking.forget_parked(self)

    def identity(self) -> str:
        """The id of this event's outcome."""
        return outcomes.event_id(self.claim.source_id, self.claim.partition, self.event.offset, "outcome")

    def put_result(self, row: ResultRow) -> None:
        """Write the row of the content hash."""
        self.put_expiring(result_key(self.content_hash), self.decider.row_codec.encode(row), row.expires_at)

    def put_expiring(self, key: bytes, row: bytes, expires_ms: int) -> None:
        """Write a row that is swept once its time has passed."""
        self.put(key, expiring(row, expires_ms))

    def put(self, key: bytes, value: bytes | None) -> None:
        """Write a row on behalf of this event; None deletes it."""
        self.batch.put(key, value, self.event.offset)

    def send(self, topic: str, key: bytes | None, kind: type[RenderCompleted | RenderFailed], identity: str, value: bytes) -> None:
        """Send an outcome, with its CloudEvents headers."""
        publisher = f"/{self.decider.settings.app_id}/{self.claim.source}/{self.claim.partition}"
        trace = cloudevents.traceparent_of(self.event.headers)
        headers: Headers = [*cloudevents.headers_of(kind, identity, self.now_ms, self.arrival.content_hash, publisher, trace)]
        self.batch.send(OutgoingRecord(topic, key, value, headers, self.event.offset))
