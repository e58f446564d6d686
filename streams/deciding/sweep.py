"""Delete what has expired, in portions."""

from __future__ import annotations

from collections.abc import Callable

from streams.ownership.batch import Batch
from streams.ownership.expiring_rows import Due, expiry_of
from streams.ownership.ownership import Ownership

MOST_SWEPT = 500
"""Expired rows of one transaction: as much as a full batch of events writes."""


def sweep(owner: Ownership, batch: Batch, now_ms: int, expire: Callable[[Due, bytes], None]) -> bool:
    """Have `expire` called for rows that are past by the wall clock and by the broker's, whichever is behind.

    Returns whether more is to be done at once.
    """
    more = False
    if owner.clock_is_behind(now_ms):
        batch.put(owner.claim.position_key, b"%d" % batch.position, -1)
        more = True
    for number, due in enumerate(owner.due(min(now_ms, owner.append_time_ms))):
        if number == MOST_SWEPT:
            return True
        batch.passed.append(due.entry)
        stored = batch.get(due.key)
        if stored is not None and expiry_of(due.key, stored) == due.expires_ms:
            expire(due, stored)
    return more
