"""Ownership: the right to decide for one partition, from fencing and restore until revocation.

An object, not an entry in a dictionary: a batch captures it when it takes its events, and every later
step uses only it, so that work begun under one generation can't end under another.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from streams.ownership.batch import Batch
from streams.ownership.checkpoint import ChangelogLog, Checkpoint
from streams.ownership.errors import Abandoned, LocalWriteFailed, OwnershipLost
from streams.ownership.expiring_rows import Due
from streams.ownership.partition_rows import PartitionRows
from streams.ownership.restore import Restored, restore
from streams.ownership.transaction import LastRow, TransactionalProducer
from streams.process_end import end_process
from streams.settings import Settings

Result = TypeVar("Result")

CHORES_SECONDS = 1.0
"""Between two looks: sooner burns processor time on idle partitions, later lets requests wait whose retry has ended."""
CLOCK_SECONDS = 60.0
"""Between two commits of an idle partition that only bring the broker's clock."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be owned: one partition of one agent's source, with the table that goes with it.

    Attributes:
        agent: part of the transactional id; each agent fences for itself.
        source_id: UUID of the source topic; positions belong to it, not to its name.
        generation: of the consumer group, when the claim was made.
    """

    agent: str
    source: str
    source_id: str
    changelog: str
    partition: int
    generation: int

    def transactional_id(self, settings: Settings) -> str:
        """Equal for every owner of this partition, which is what lets a new one fence the old."""
        return f"{settings.app_id}-{self.agent}-{self.partition}"

    @property
    def position_key(self) -> bytes:
        """The row that holds the next offset to decide."""
        return b"position/" + self.source_id.encode()


def _end_if_lost(committing: asyncio.Future[Any]) -> None:
    """End the process for a batch that failed after nobody waited for it any more."""
    error = None if committing.cancelled() else committing.exception()
    if isinstance(error, OwnershipLost):
        end_process(error.exit_code, str(error))


class Ownership:
    """One open partition: producer, rows and position under one epoch.

    Attributes:
        position: the next offset to decide.
        has_position_row: whether a transaction has made a position durable.
        source_end: the source's end when the ownership opened; what lies below may have been handled before.
        append_time_ms: the broker's clock at the last row of this partition that is known, milliseconds since the epoch.
    """

    def __init__(self, settings: Settings, claim: Claim, rows: PartitionRows, producer: TransactionalProducer, executor: Executor) -> None:
        self._settings = settings
        self.claim = claim
        self.group = settings.app_id
        self._rows = rows
        self._producer = producer
        self.executor = executor
        # Held while rows are read for decisions (step 2) and while steps 4 and 5 run: closing waits for it.
        self._in_use = threading.Lock()
        # One transaction at a time, whether events or the clock asked for it. The lock is the event loop's: a thread that
        # waited for another's commit would keep a third partition's from running.
        self._one_transaction = asyncio.Lock()
        self._closed = True
        self._released = False
        self._version = 0
        self.position = 0
        self.has_position_row = False
        self.source_end = 0
        self.append_time_ms = 0
        self._chores_at = 0.0
        self._clock_at = 0.0

    def fence(self) -> None:
        """End the former owner's say over this partition; blocking."""
        self._producer.fence()

    def restore(self, log: ChangelogLog, superseded: threading.Event) -> Restored:
        """Bring the rows up to the changelog's end and learn the position; blocking."""
        restored = restore(self._settings, self._rows, self.claim.changelog, self.claim.partition, log, superseded)
        self._log = log
        self.append_time_ms = restored.append_time_ms
        row = self._rows.get(self.claim.position_key)
        if row is not None:
            self.position, self.has_position_row = int(row), True
        return restored

    def open(self, position: int, source_end: int = 0) -> None:
        """From here on batches may be decided; `position` is the next offset to decide."""
        self.position = position
        self.source_end = source_end
        self._closed = False

    @property
    def closed(self) -> bool:
        """True before `open` and after `close`."""
        return self._closed

    @property
    def committable(self) -> int | None:
        """The offset for the consumer group: None until a transaction has made the position durable.

        A group offset without a position row would look like lost state at the next start.
        """
        return self.position if self.has_position_row and not self._closed else None

    def row(self, key: bytes) -> bytes | None:
        """A committed row.

        Raises:
            Abandoned: the ownership is closed; its rows may be out of date.
        """
        if self._closed:
            raise Abandoned
        return self._rows.get(key)

    def row_keys(self) -> Iterator[bytes]:
        """Keys of all committed rows, in order.

        Raises:
            Abandoned: the ownership is closed.
        """
        if self._closed:
            raise Abandoned
        yield from self._rows.keys()

    @contextmanager
    def deciding(self) -> Iterator[Batch]:
        """Step 2: an empty batch that reads this ownership's rows, which stay open meanwhile.

        Raises:
            Abandoned: the ownership is closed.
        """
        with self._in_use:
            if self._closed:
                raise Abandoned
            yield Batch(self._rows.get, self._version, self.position, self.source_end, self._rows.scan)

    def due(self, until_ms: int) -> Iterator[Due]:
        """Entries of the expiry index up to an instant; inside `deciding` only."""
        return self._rows.due(until_ms)

    def chores_are_due(self) -> bool:
        """Whether it is time to look for work that no event asks for; cheap enough to ask for each batch."""
        return not self._closed and time.monotonic() >= self._chores_at

    def chores_done(self, *, more: bool) -> None:
        """They have been looked at; `more` is to be done at once."""
        self._chores_at = time.monotonic() + (0.0 if more else CHORES_SECONDS)

    def clock_is_behind(self, now_ms: int) -> bool:
        """Whether something is past by the wall clock whose end the broker's clock, as it is known, has not reached.

        The commit of a position alone brings the broker's clock up to date; once in a while is enough.
        """
        behind = self._has_due(now_ms) and not self._has_due(self.append_time_ms)
        if not behind or time.monotonic() < self._clock_at:
            return False
        self._clock_at = time.monotonic() + CLOCK_SECONDS
        return True

    def _has_due(self, until_ms: int) -> bool:
        return next(iter(self._rows.due(until_ms)), None) is not None

    async def in_thread(self, steps: Callable[[], Result]) -> Result:
        """Steps 2 to 5 of one transaction in one thread, shielded: a cancelled task must not tear 4 and 5 apart."""
        async with self._one_transaction:
            working = asyncio.get_running_loop().run_in_executor(self.executor, steps)
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                working.add_done_callback(_end_if_lost)
                raise

    def commit(self, batch: Batch) -> None:
        """Steps 4 and 5; blocking.

        Raises:
            Abandoned, TransactionAborted, OutputTooLarge, OwnershipLost: see `streams.ownership.errors`.
        """
        with self._in_use:
            # Another base: the batch's actor was cancelled with this commit still queued, and the events
            # have been decided and committed again since.
            if self._closed or batch.base != self._version:
                raise Abandoned
            batch.rows[self.claim.position_key] = b"%d" % batch.position
            last_row = self.publish(batch)
            self.write_locally(batch, last_row.offset)
            self.position, self.has_position_row = batch.position, True
            self.append_time_ms = max(self.append_time_ms, last_row.append_time_ms)
            self._version += 1

    def publish(self, batch: Batch) -> LastRow:
        """Step 4: outcomes, rows and position become visible together; where the changelog has come to."""
        return self._producer.publish(batch, self.claim.changelog, self.claim.partition)

    def write_locally(self, batch: Batch, offset: int) -> None:
        """Step 5: the same rows into RocksDB.

        Raises:
            LocalWriteFailed: the truth is in the changelog now, and only a restart reads it.
        """
        try:
            self._rows.write(batch.rows, Checkpoint(self._log.topic_id, offset, time.time_ns() // 1_000_000), batch.passed)
        except Exception as exc:  # rocksdict raises bare Exceptions
            raise LocalWriteFailed(f"rows of partition {self.claim.partition} are committed but not written locally: {exc}") from exc

    def close(self) -> None:
        """Stop deciding, wait for a step under way, release producer and rows; blocking, idempotent."""
        self._closed = True
        with self._in_use:
            if not self._released:
                self._released = True
                self._producer.close()
                self._rows.close()
