"""RenderCompleted in sections: what the row of its content says, encoded once, and what is each request's own.

A content that is asked for a thousand times has a thousand completed events which differ in a few fields. The
sections one after the other are the bytes that `Codec.encode` gives for the whole record; a test holds them equal.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.compiled import section_encoder
from schemas.definitions import current
from schemas.events import RenderCompleted, ResultRow

_TREE: Final = current(RenderCompleted).tree
_whose: Final = section_encoder(_TREE, "event_id", "source")
_file: Final = section_encoder(_TREE, "format", "result_ref")
_artifact: Final = section_encoder(_TREE, "artifact", "artifact")
_symbol: Final = section_encoder(_TREE, "renderer", "verification")
_when: Final = section_encoder(_TREE, "attempts", "completed_at")
_expiry: Final = section_encoder(_TREE, "expires_at", "expires_at")


class RowSections(NamedTuple):
    """The sections that a ready row determines."""

    file: bytes
    symbol: bytes
    expiry: bytes


def row_sections(row: ResultRow) -> RowSections:
    """Encode what a ready row says; its fields have the names of the event's."""
    assert row.verification is not None  # every ready row has been read back
    return RowSections(
        _file(row.format, row.media_type, row.checksum, row.size_bytes, row.result_ref),
        _symbol(row.renderer, row.profile, row.version, row.error_correction, row.mask, row.verification),
        _expiry(row.expires_at),
    )


def completed_sections(  # noqa: PLR0913 - the fields of the event that are the request's own
    row: RowSections, *, event_id: str, request_id: str, tenant: str, idempotency_key: str | None, generation: int,
    content_hash: str, source: str, artifact: bytes | None, attempts: int, requested_at: int, completed_at: int,
) -> tuple[bytes, ...]:
    """The Avro bytes of one completed event, in parts for `Codec.framed`."""
    return (
        _whose(event_id, request_id, tenant, idempotency_key, generation, content_hash, source),
        row.file,
        _artifact(artifact),
        row.symbol,
        _when(attempts, requested_at, completed_at),
        row.expiry,
    )
