"""Build the events and rows that a decision asks for: values in, values out."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from processors.errors import RenderError
from processors.freshness import jittered_ttl
from schemas.completed import RowSections, completed_sections, row_sections
from schemas.events import MarkerRow, RenderFailed, ResultRow

if TYPE_CHECKING:
    from processors.arrival import Arrival
    from processors.render import Rendered
    from processors.spec import RenderSpec


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long rows answer, in milliseconds."""

    result: int
    failure: int
    request: int


def event_id(source_id: str, partition: int, offset: int, kind: str) -> str:
    """32 hex digits, the same each time this record is decided; a consumer may dedupe by it."""
    return sha256(f"{source_id}/{partition}/{offset}/{kind}".encode()).hexdigest()[:32]


def result_ref(changelog: str, partition: int, content_hash: str) -> str:
    """Where the `kafka` artifact store keeps the bytes; grammar in docs/events.md."""
    return f"kafka:///{changelog}/{partition}/artifact/{content_hash}"


def ready_row(spec: RenderSpec, content_hash: str, rendered: Rendered, *, reference: str, lifetimes: Lifetimes, now_ms: int, before: ResultRow | None) -> ResultRow:  # noqa: PLR0913  # what one row is made of
    """The row of a finished render; `before` is the row it replaces."""
    expires_at = now_ms + jittered_ttl(content_hash, lifetimes.result)
    return ResultRow(
        status="ready",
        attempts=1,
        checksum=sha256(rendered.artifact).hexdigest(),
        result_ref=reference,
        media_type=rendered.media_type,
        size_bytes=len(rendered.artifact),
        format=spec.format,
        renderer=rendered.renderer,
        profile=spec.profile,
        version=rendered.version,
        error_correction=rendered.error_correction,
        mask=rendered.mask,
        verification=rendered.verification,
        created_at=before.created_at if before else now_ms,
        updated_at=now_ms,
        fresh_until=expires_at,
        stale_until=expires_at,
        expires_at=expires_at,
    )


def failed_row(error: RenderError, attempts: int, lifetimes: Lifetimes, now_ms: int) -> ResultRow:
    """The negative-cache row of a failure that the canonical content alone determines."""
    expires_at = now_ms + lifetimes.failure
    return ResultRow(
        status="failed",
        attempts=attempts,
        error_code=error.code,
        error_class=str(error.error_class),
        message=error.message,
        created_at=now_ms,
        updated_at=now_ms,
        fresh_until=expires_at,
        stale_until=expires_at,
        expires_at=expires_at,
    )


class StoredResult:
    """A result row with what it contributes to every completed event, encoded when the first is asked for."""

    __slots__ = ("_sections", "row")

    def __init__(self, row: ResultRow) -> None:
        self.row = row
        self._sections: RowSections | None = None

    @property
    def sections(self) -> RowSections:
        """Of a ready row."""
        if self._sections is None:
            self._sections = row_sections(self.row)
        return self._sections


def completed(arrival: Arrival, stored: StoredResult, artifact: bytes, *, identity: str, source: str, now_ms: int) -> tuple[bytes, ...]:
    """RenderCompleted, in sections: the outcome of a request whose symbol exists; source is rendered, cache or stale."""
    request = arrival.request
    assert request is not None
    assert arrival.content_hash is not None
    return completed_sections(
        stored.sections,
        event_id=identity,
        request_id=request.request_id,
        tenant=request.tenant,
        idempotency_key=request.idempotency_key,
        generation=arrival.generation,
        content_hash=arrival.content_hash,
        source=source,
        artifact=artifact if request.deliver == "inline" else None,
        attempts=arrival.attempt,
        requested_at=request.requested_at,
        completed_at=now_ms,
    )


def failed(arrival: Arrival, error: RenderError, *, identity: str, now_ms: int) -> RenderFailed:
    """The outcome of a request that has no symbol."""
    request = arrival.request
    assert request is not None  # what can't be decoded is a dead letter and no event
    return RenderFailed(
        event_id=identity,
        request_id=request.request_id,
        tenant=request.tenant,
        idempotency_key=request.idempotency_key,
        generation=arrival.generation,
        content_hash=arrival.content_hash,
        error_code=error.code,
        error_class=str(error.error_class),
        message=error.message,
        attempts=arrival.attempt,
        requested_at=request.requested_at,
        failed_at=now_ms,
    )


def marker(arrival: Arrival, outcome: str, identity: str | None, lifetimes: Lifetimes, now_ms: int) -> MarkerRow:
    """The active marker of a request: a repeat of this generation and attempt is dropped."""
    return MarkerRow(
        generation=arrival.generation, attempt=arrival.attempt, outcome=outcome, event_id=identity, expires_at=now_ms + lifetimes.request
    )


