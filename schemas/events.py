"""Typed views of the Avro records: what the rest of the code reads and writes.

Each class has the fields of its .avsc in the same order, with the same defaults; a test holds the two
against each other. The meaning and unit of every field is its ``doc`` in ``schemas/avsc``.

Instants are plain ``int`` milliseconds since 1970-01-01T00:00:00Z (Avro ``timestamp-millis``): a ``datetime``
would cost more to make than the rest of a record costs to decode, and would not hold every 64-bit value that
a publisher may send. Values are checked by the worker and not here, so that a user's wrong value becomes a
failed event and not a publisher's crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What reading the finished symbol back has shown."""

    decoder: str
    contrast_ratio: float
    quiet_zone_modules: float
    module_px: float
    inverted: bool
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> Verification:
        """What ``dataclasses.asdict`` gave, after its way through JSON, by this release or an older one.

        Raises:
            TypeError: a member is missing, or unknown to this release.
        """
        return cls(**{**members, "warnings": tuple(members.get("warnings", ()))})


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderRequested:
    """One request for one QR symbol; what is left out takes the default of profile ``qr-1``."""

    request_id: str
    tenant: str = "default"
    idempotency_key: str | None = None
    content: str | bytes
    format: str = "png"
    error_correction: str = "m"
    boost: bool = True
    scale: float | None = None
    size: float | None = None
    margin: float = 4.0
    dark: str | None = "#000000"
    light: str | None = "#ffffff"
    profile: str = "qr-1"
    deliver: str = "inline"
    deadline: int | None = None
    requested_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderCompleted:
    """The outcome of a request whose symbol exists."""

    event_id: str
    request_id: str
    tenant: str
    idempotency_key: str | None = None
    generation: int
    content_hash: str
    source: str
    format: str
    media_type: str
    checksum: str
    size_bytes: int
    result_ref: str
    artifact: bytes | None = None
    renderer: str
    profile: str
    version: int
    error_correction: str
    mask: int
    verification: Verification
    attempts: int
    requested_at: int
    completed_at: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderFailed:
    """The outcome of a request that has no symbol, and why."""

    event_id: str
    request_id: str
    tenant: str
    idempotency_key: str | None = None
    generation: int
    content_hash: str | None = None
    error_code: str
    error_class: str
    message: str
    attempts: int
    requested_at: int
    failed_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """State of one content hash: ready, failed or retrying.

    The fields that have an empty default describe an artifact, and mean nothing unless status is ready.
    """

    status: str
    attempts: int
    generation: int = 0
    next_attempt_at: int | None = None
    error_code: str | None = None
    error_class: str | None = None
    message: str | None = None
    checksum: str = ""
    result_ref: str = ""
    media_type: str = ""
    size_bytes: int = 0
    format: str = ""
    renderer: str = ""
    profile: str = ""
    version: int = 0
    error_correction: str = ""
    mask: int = 0
    verification: Verification | None = None
    created_at: int
    updated_at: int
    fresh_until: int
    stale_until: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerRow:
    """State of one request under one key: how far it has come, and its outcome once it has one."""

    generation: int
    attempt: int
    outcome: str | None = None
    event_id: str | None = None
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRow:
    """One request without an outcome yet: parked itself, or waiting for the retry of its content hash."""

    offset: int
    key: bytes
    value: bytes
    headers: str
    began_at: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DlqDisposition:
    """What an operator has done with one dead letter."""

    letter: str
    action: str
    generation: int
    who: str
    decided_at: int
    why: str | None = None
    target_topic: str | None = None
    target_partition: int | None = None
    key_repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderSubmitted:
    """One request as it comes to the intake: without id and hash, and with the key that its client chose."""

    tenant: str = "default"
    idempotency_key: str
    content: str | bytes = ""
    format: str = "png"
    error_correction: str = "m"
    boost: bool = True
    scale: float | None = None
    size: float | None = None
    margin: float = 4.0
    dark: str | None = "#000000"
    light: str | None = "#ffffff"
    profile: str = "qr-1"
    deliver: str = "inline"
    deadline: int | None = None
    requested_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """What one idempotency key of one tenant was first used for."""

    request_id: str
    content_hash: str | None = None
    fingerprint: bytes
    generation: int
    state: str
    error_code: str | None = None
    expires_at: int


Event = RenderRequested | RenderCompleted | RenderFailed
Record = Event | ResultRow | MarkerRow | WaitingRow | DlqDisposition | RenderSubmitted | ClaimRow

RECORD_TYPES: Final[tuple[type[Record], ...]] = (
    RenderRequested,
    RenderCompleted,
    RenderFailed,
    ResultRow,
    MarkerRow,
    WaitingRow,
    DlqDisposition,
    RenderSubmitted,
    ClaimRow,
)
"""Every record that travels or is stored by itself, in the order of docs/events.md."""
