"""Notice records that were fetched and never came: the continuity check needs a later record to see a gap.

Faust drops what is on its way when a rebalance suspends the flow. A gap in the middle of a partition shows when
the next record comes; one at its end would stand until somebody publishes again.
"""

from __future__ import annotations

from typing import Any

import structlog

from streams.faust_app.seek_back import SeekBack
from streams.ownership.ownership import Ownership

log = structlog.get_logger(__name__)

LOOK_SECONDS = 5.0
"""Longer than anything fetched waits for an idle actor, shorter than a user's patience. Looking again too
early only brings redelivered events, which the position skips."""


class StallWatch:
    """Remembers per partition the position at which it was last seen standing still."""

    def __init__(self, app: Any, seek_back: SeekBack) -> None:
        self._app = app
        self._seek_back = seek_back
        self._standing: dict[Any, tuple[int, int]] = {}
        self._at_work: set[Any] = set()

    def begins(self, tp: Any) -> None:
        """A batch of the partition is under way."""
        self._at_work.add(tp)
        self._standing.pop(tp, None)

    def ends(self, tp: Any) -> None:
        """The partition's actor waits for events again."""
        self._at_work.discard(tp)

    def at_work(self, topic: str, partition: int) -> bool:
        """Whether a batch of the partition is under way."""
        return (topic, partition) in self._at_work

    async def look(self, owned: dict[Any, Ownership]) -> None:
        """Seek back where records were fetched, none is being decided and the position has not moved since the last look."""
        for tp, owner in owned.items():
            fetched = self._app.consumer.delivered_up_to(tp)
            now = (owner.claim.generation, owner.position)
            if fetched is None or fetched <= owner.position or tp in self._at_work:
                self._standing.pop(tp, None)
            elif self._standing.get(tp) != now:
                self._standing[tp] = now
            else:
                log.warning("records_not_delivered", partition=tp.partition, position=owner.position, fetched_up_to=fetched)
                await self._seek_back.to_position(tp, owner)
