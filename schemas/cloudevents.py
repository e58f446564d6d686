"""CloudEvents headers of a Kafka record, binary content mode.

CloudEvents 1.0.2 with its Kafka protocol binding 1.0.2 (the value is the event's data, attributes are headers
with the prefix ``ce_``), W3C Trace Context 1 for ``traceparent``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from schemas.definitions import NAMESPACE
from schemas.events import Event, RenderCompleted, RenderFailed, RenderRequested

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTENT_TYPE: Final = b"application/avro"
_SPECVERSION: Final = ("ce_specversion", b"1.0")
_CONTENT_TYPE: Final = ("content-type", CONTENT_TYPE)
_TRACEPARENT_LENGTH: Final = len("traceparent")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES: Final = {kind: f"{NAMESPACE}.{kind.__name__}".encode() for kind in (RenderRequested, RenderCompleted, RenderFailed)}
# Version 00 has exactly these four parts; a later version may append more, and ff is forbidden (section 3.2.2).
_TRACEPARENT: Final = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:(?<!^00.{53})-[^\x00-\x20\x7f]*)?"
)


def headers(
    event: Event, source: str, traceparent: str | None = None, *, content_hash: str | None = None
) -> list[tuple[str, bytes]]:
    """The headers of an event's record.

    ``source`` is the URI-reference of who publishes. The subject is the content hash where there is one; a request
    does not carry its own, so its publisher gives it as ``content_hash``. A ``traceparent`` that is not well formed
    is left out, as the receiver of one has to (Trace Context, section 3.2).
    """
    if isinstance(event, RenderRequested):
        identity, instant, subject = event.request_id, event.requested_at, content_hash
    else:
        identity, subject = event.event_id, event.content_hash
        instant = event.completed_at if isinstance(event, RenderCompleted) else event.failed_at
    return headers_of(type(event), identity, instant, subject, source, traceparent)


def headers_of(
    kind: type[Event], identity: str, instant: int, subject: str | None, source: str, traceparent: str | None = None
) -> list[tuple[str, bytes]]:
    """The headers of an event of type ``kind`` from the attributes themselves; ``instant`` in milliseconds."""
    made = [_SPECVERSION, ("ce_id", identity.encode()), ("ce_type", _TYPES[kind]), ("ce_source", source.encode())]
    if subject:
        made.append(("ce_subject", subject.encode()))
    if (time := rfc3339(instant)) is not None:
        made.append(("ce_time", time.encode()))
    made.append(_CONTENT_TYPE)
    if traceparent is not None and _TRACEPARENT.fullmatch(traceparent):
        made.append(("traceparent", traceparent.encode()))
    return made


def traceparent_of(record_headers: Iterable[tuple[str, bytes | None]] | None) -> str | None:
    """The well-formed ``traceparent`` of a record that was read, or None; two of them are none."""
    values = [value for name, value in record_headers or () if len(name) == _TRACEPARENT_LENGTH and name.lower() == "traceparent"]
    if len(values) != 1 or values[0] is None:
        return None
    text = values[0].decode("ascii", errors="replace")
    return text if _TRACEPARENT.fullmatch(text) else None


def rfc3339(instant_ms: int) -> str | None:
    """An instant in RFC 3339 with milliseconds and Z; None outside the years 1 to 9999, which it cannot write."""
    seconds, milliseconds = divmod(instant_ms, 1000)
    to_the_second = _to_the_second(seconds)
    return None if to_the_second is None else f"{to_the_second}.{milliseconds:03d}Z"


@lru_cache(maxsize=64)  # thousands of events share a second
def _to_the_second(seconds: int) -> str | None:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()
    except OverflowError:
        return None
