"""Where a delivered event lies relative to the position: the check that makes redelivery harmless.

A position makes redelivery harmless only if nothing is skipped, and Faust's delivery is not gap-free
around a rebalance. So each event carries the offset that it continues: the one after its predecessor
in the same fetch chain (a seek starts a new chain; commit markers and aborted records move the fetch
position without ever being delivered).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class DeliveredEvent(NamedTuple):
    """A record of the source, as the consumer gave it; bytes untouched.

    Attributes:
        continues: offset after the predecessor in its fetch chain; None if unknown.
        generation: of the consumer group when it was delivered.
        timestamp_ms: the broker's append time, ms since the epoch; None if unknown.
    """

    offset: int
    continues: int | None
    generation: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp_ms: int | None = None


class Placement(Enum):
    """What an event's offsets say about it."""

    NEXT = "to be decided"
    REDELIVERED = "below the position: its outcome is committed"
    SKIPPED = "records between the position and this one were never delivered"


def placement(offset: int, continues: int | None, position: int) -> Placement:
    """Place an event against the next offset to decide."""
    if offset < position:
        return Placement.REDELIVERED
    if continues is None or continues > position:
        return Placement.SKIPPED
    return Placement.NEXT
