"""When the consumer has skipped records: go back to the position, a bounded number of times."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import structlog
from aiokafka.errors import IllegalStateError

from streams.exit_codes import ExitCode
from streams.ownership.errors import OwnershipLost
from streams.ownership.ownership import Ownership

log = structlog.get_logger(__name__)

PATIENCE_SECONDS = 2.0
"""Events fetched before the seek are still on their way for a moment; only what skips after it counts."""
MOST_SEEKS = 5


class RecordsSkipped(OwnershipLost):
    """Seeking back did not bring the skipped records."""

    exit_code = ExitCode.RECORDS_SKIPPED


class SeekBack:
    """Remembers, per partition, when it was last sought and how often in vain."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._sought: dict[Any, tuple[float, int]] = {}

    def settled(self, tp: Any) -> None:
        """Events continue at the position again."""
        self._sought.pop(tp, None)

    async def to_position(self, tp: Any, owner: Ownership) -> None:
        """Seek to the ownership's position, unless that has just been done.

        Raises:
            RecordsSkipped: it has been done too often in vain.
        """
        if owner.closed:
            return  # the next owner begins at its own position
        last, times = self._sought.get(tp, (0.0, 0))
        if time.monotonic() - last < PATIENCE_SECONDS:
            return
        if times == MOST_SEEKS:
            raise RecordsSkipped(f"records of {tp.topic}-{tp.partition} from offset {owner.position} on are not delivered, after {times} seeks back to them")
        log.warning("records_skipped", partition=tp.partition, position=owner.position, seeks=times + 1)
        self._sought[tp] = time.monotonic(), times + 1
        with suppress(IllegalStateError):  # revoked meanwhile: the next owner begins at its own position
            await self._app.consumer.seek(tp, owner.position)
