"""Control events: what an operator asks of the owners, sent through the source so that positions cover it.

A record of the requested topic with the header `qr-control`. `invalidate` with a key makes the result of that content
hash answer no more; without a key, those of the profile in `qr-profile`, in the partition that it lies in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog

from processors.profile import PROFILES
from processors.row_keys import artifact_key, is_content_hash, result_key
from streams.deciding.delivery import DeliveredEvent
from streams.ownership.batch import Batch

if TYPE_CHECKING:
    from streams.deciding.carry_out import Decider

log = structlog.get_logger(__name__)

CONTROL = "qr-control"
PROFILE = "qr-profile"
INVALIDATE = b"invalidate"


def invalidated_key(profile: str) -> bytes:
    """The row with the instant (ms since the epoch, decimal digits) from which on results of a profile must be to answer."""
    return b"invalidated/" + profile.encode()


def is_control(headers: Iterable[tuple[str, bytes | None]]) -> bool:
    """Whether a record is a control event."""
    return any(name == CONTROL for name, _ in headers)


def carry_out(decider: Decider, event: DeliveredEvent, batch: Batch, now_ms: int) -> str:
    """Do what the event asks; what this release does not know is logged and passed over. The kind, for counting."""
    asked = dict(event.headers)
    if asked.get(CONTROL) == INVALIDATE and is_content_hash(event.key):
        return _invalidate_hash(decider, (event.key or b"").decode(), event.offset, batch)
    profile = (asked.get(PROFILE) or b"").decode("utf-8", "replace")
    # Rows of a stranger's names would stay for ever.
    if asked.get(CONTROL) == INVALIDATE and not event.key and profile in PROFILES:
        batch.put(invalidated_key(profile), b"%d" % now_ms, event.offset)
        log.info("profile_invalidated", profile=profile)
        return "invalidated"
    log.warning("control_event_not_understood", offset=event.offset, asked=str(asked.get(CONTROL)))
    return "control_unknown"


def _invalidate_hash(decider: Decider, content_hash: str, offset: int, batch: Batch) -> str:
    """Forget the result; one that is being retried answers nobody yet, and its waiting requests count on it."""
    raw = batch.get(result_key(content_hash))
    if raw is None or decider.stored_result(raw).row.status == "retrying":
        return "nothing_to_invalidate"
    batch.put(result_key(content_hash), None, offset)
    if batch.get(artifact_key(content_hash)) is not None:
        batch.put(artifact_key(content_hash), None, offset)
    log.info("result_invalidated", content_hash=content_hash)
    return "invalidated"
