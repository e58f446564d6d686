"""Build the events and rows that a decision asks for: values in, values out."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

from processors.errors import RenderError
from processors.freshness import jittered_ttl
from schemas.completed import RowSections, completed_sections, row_sections
from schemas.events import MarkerRow, RenderFailed, ResultRow

if TYPE_CHECKING:
    from processors.arrival import Arrival
    from processors.render import Rendered
    from processors.spec import RenderSpec
    from streams.settings import Settings


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long rows answer, in milliseconds.

    stale: how long a result still answers behind its time, while a fresh one is made.
    grace: how long a parked request may be overdue before it counts as lost.
    """

    result: int
    stale: int
    failure: int
    request: int
    grace: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As set."""
        seconds = (settings.result_ttl, settings.stale_window, settings.failure_ttl, settings.request_ttl, settings.retry_grace)
        return cls(*(int(value * 1000) for value in seconds))


def event_id(source_id: str, partition: int, offset: int, kind: str) -> str:
    """32 hex digits, the same each time this record is decided; a consumer may dedupe by it."""
    return sha256(f"{source_id}/{partition}/{offset}/{kind}".encode()).hexdigest()[:32]


def result_ref(changelog: str, partition: int, content_hash: str) -> str:
    """Where the `kafka` artifact store keeps the bytes; grammar in docs/events.md."""
    return f"kafka:///{changelog}/{partition}/artifact/{content_hash}"


def _facts(file_format: str, profile: str, rendered: Rendered) -> dict[str, Any]:
    """What a row tells of an artifact, but for its place."""
    return {
        "checksum": sha256(rendered.artifact).hexdigest(),
        "media_type": rendered.media_type,
        "size_bytes": len(rendered.artifact),
        "format": file_format,
        "renderer": rendered.renderer,
        "profile": profile,
        "version": rendered.version,
        "error_correction": rendered.error_correction,
        "mask": rendered.mask,
        "verification": rendered.verification,
    }


def ready_row(spec: RenderSpec, content_hash: str, rendered: Rendered, *, reference: str, lifetimes: Lifetimes, now_ms: int, before: ResultRow | None, attempts: int = 1) -> ResultRow:  # noqa: PLR0913  # what one row is made of
    """The row of an artifact that is there; `before` is the row it replaces."""
    fresh_until = now_ms + jittered_ttl(content_hash, lifetimes.result)
    return ResultRow(
        status="ready",
        attempts=attempts,
        result_ref=reference,
        created_at=before.created_at if before else now_ms,
        updated_at=now_ms,
        fresh_until=fresh_until,
        stale_until=fresh_until + lifetimes.stale,
        expires_at=fresh_until + lifetimes.stale,
        **_facts(spec.format, spec.profile, rendered),
    )


def unready_row(  # noqa: PLR0913  # what one row is made of
    status: str, spec: RenderSpec, error: RenderError, *, attempts: int, expires_at: int, now_ms: int, generation: int = 0,
    next_attempt_at: int | None = None, before: ResultRow | None, rendered: Rendered | None,
) -> ResultRow:
    """The row of a failure: `failed`, remembered for further requests, or `retrying`, which answers nobody.

    What is known of an artifact that was made stays in it: `rendered`, or what `before` said.
    """
    if rendered is not None:
        known = _facts(spec.format, spec.profile, rendered)
    elif before is not None and before.checksum:
        known = {name: getattr(before, name) for name in _OF_THE_ARTIFACT}
    else:
        known = {"format": spec.format, "profile": spec.profile}
    return ResultRow(
        status=status,
        attempts=attempts,
        generation=generation,
        next_attempt_at=next_attempt_at,
        error_code=error.code,
        error_class=str(error.error_class),
        message=error.message,
        created_at=before.created_at if before else now_ms,
        updated_at=now_ms,
        fresh_until=expires_at,
        stale_until=expires_at,
        expires_at=expires_at,
        **known,
    )


_OF_THE_ARTIFACT = frozenset({
    "checksum", "result_ref", "media_type", "size_bytes", "format", "renderer", "profile", "version", "error_correction", "mask", "verification",
})


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


def marker(arrival: Arrival, attempt: int, outcome: str | None, identity: str | None, lifetimes: Lifetimes, now_ms: int) -> MarkerRow:
    """The active marker of a request: a repeat of this generation and attempt is dropped; no outcome while it waits for one."""
    return MarkerRow(generation=arrival.generation, attempt=attempt, outcome=outcome, event_id=identity, expires_at=now_ms + lifetimes.request)


