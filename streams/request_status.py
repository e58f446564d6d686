"""What has become of one request, read from the changelog and the source: no worker is asked.

A request that its owner has taken and not yet committed is still `pending` here: only the owner knows more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from processors.partitioner import partition_for
from processors.row_keys import marker_key, result_key
from schemas.codec import Codec, UndecodableError
from schemas.events import MarkerRow, RenderRequested, ResultRow
from streams.changelog_rows import read_rows
from streams.event_codec import event_codec
from streams.ownership.expiring_rows import without_expiry
from streams.settings import Settings
from streams.topic_reader import TopicReader
from streams.topics import REQUESTED

_POSITION = b"position/"
_STATUS_OF_OUTCOME = {"completed": "ready", "failed": "failed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStatus:
    """One request as far as it has come.

    Attributes:
        status: pending (published, not decided), processing (parked, or waiting for the retry of its hash), ready, failed.
        attempts: of its content hash, once one was made.
        next_attempt_at: when the pending retry is due, milliseconds since the epoch.
    """

    request_id: str
    tenant: str
    content_hash: str
    status: str
    idempotency_key: str | None = None
    generation: int = 0
    attempts: int = 0
    next_attempt_at: int | None = None
    event_id: str | None = None
    result_ref: str | None = None
    error_code: str | None = None
    message: str | None = None


def read_status(settings: Settings, request_id: str, content_hash: str, tenant: str) -> RequestStatus | None:
    """The request's status; None if it is neither in the table nor among what is still to be decided.

    Reads the hash's partition of the changelog from its beginning: some 200,000 rows a second.

    Raises:
        BrokerUnreachable, TopicMissing: nothing can be read.
        UndecodableError: a row is of a newer release.
    """
    partition = partition_for(content_hash.encode(), settings.partitions)
    marker, result = marker_key(content_hash.encode(), tenant, request_id), result_key(content_hash)
    rows = read_rows(settings, partition, lambda key: key in {marker, result} or key.startswith(_POSITION))
    if marker in rows:
        return _from_rows(rows[marker], rows.get(result), request_id, content_hash, tenant)
    positions = [int(row) for key, row in rows.items() if key.startswith(_POSITION)]
    return _from_source(settings, partition, positions[-1] if positions else 0, request_id, content_hash, tenant)


def _from_rows(marker_row: bytes, result_row: bytes | None, request_id: str, content_hash: str, tenant: str) -> RequestStatus:
    codec = Codec()
    marker = codec.decode(without_expiry(marker_row), MarkerRow)
    status = "processing" if marker.outcome is None else _STATUS_OF_OUTCOME.get(marker.outcome, marker.outcome)
    known = RequestStatus(
        request_id=request_id, tenant=tenant, content_hash=content_hash, status=status, generation=marker.generation, event_id=marker.event_id,
        attempts=marker.attempt,
    )
    result = None if result_row is None else codec.decode(without_expiry(result_row), ResultRow)
    if result is None or status not in {"processing", result.status}:
        return known  # the row tells of another outcome than this request's
    return replace(
        known, attempts=result.attempts, next_attempt_at=result.next_attempt_at, error_code=result.error_code, message=result.message,
        result_ref=result.result_ref or None if status == "ready" else None,
    )


def _from_source(settings: Settings, partition: int, position: int, request_id: str, content_hash: str, tenant: str) -> RequestStatus | None:
    """Among what is published behind the position."""
    codec = event_codec(settings)
    with TopicReader(settings, [REQUESTED.full_name(settings)], from_beginning=True, partition=partition) as reader:
        for message in reader.to_end():
            if (message.offset() or 0) < position or message.key() != content_hash.encode():
                continue
            try:
                request = codec.decode(message.value() or b"", RenderRequested)
            except UndecodableError:
                continue
            if (request.request_id, request.tenant) == (request_id, tenant):
                return RequestStatus(
                    request_id=request_id, tenant=tenant, content_hash=content_hash, status="pending", idempotency_key=request.idempotency_key
                )
    return None
