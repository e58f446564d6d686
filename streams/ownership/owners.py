"""All ownerships of a process: closed together at revocation, fenced and opened anew each generation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import rocksdict
import structlog

from streams.ownership import freed_memory
from streams.ownership.broker_facts import BrokerFacts, SourceLog
from streams.ownership.errors import Abandoned, StateUnusable
from streams.ownership.ownership import Claim, Ownership
from streams.ownership.partition_rows import PartitionRows, RocksLimits
from streams.ownership.transaction import TransactionalProducer
from streams.settings import Settings

log = structlog.get_logger(__name__)

MANY_ROWS = 10_000
"""Rows of one partition's restore that leave megabytes behind."""
MOST_THREADS = 64
"""Fencing waits on the broker: 128 producers took 0.8 s with 64 threads and 6 s with 6."""


Subject = TypeVar("Subject")
Result = TypeVar("Result")


class Owners:
    """The open ownerships of this process, by agent and partition."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._executor = ThreadPoolExecutor(min(MOST_THREADS, 2 * settings.partitions + 2), thread_name_prefix="ownership")
        self._limits = RocksLimits(rocksdict.Cache(settings.rocksdb_cache), settings.rocksdb_write_buffer)
        self._open: dict[tuple[str, int], Ownership] = {}
        self._superseded = threading.Event()
        self._opening: asyncio.Future[None] | None = None
        self._facts: BrokerFacts | None = None

    @property
    def executor(self) -> ThreadPoolExecutor:
        """Threads for the blocking steps."""
        return self._executor

    def get(self, agent: str, partition: int) -> Ownership | None:
        """The open ownership, if there is one."""
        owner = self._open.get((agent, partition))
        return None if owner is None or owner.closed else owner

    def all(self) -> list[Ownership]:
        """Every open ownership."""
        return list(self._open.values())

    async def close_all(self) -> None:
        """End every ownership, and keep an opening under way from succeeding."""
        self._superseded.set()
        closing = list(self._open.values())
        self._open.clear()
        await self._each(Ownership.close, closing)

    async def open_all(self, claims: Sequence[Claim], still_current: Callable[[], bool]) -> None:
        """Fence, restore and open each claim; returns without any when a newer generation has begun.

        Raises:
            OwnershipLost: a partition can't be opened; the process must end.
        """
        await self.close_all()
        superseded = self._superseded = threading.Event()
        if self._opening is not None:
            await asyncio.wait([self._opening])  # its threads still hold the RocksDBs
        if superseded.is_set():
            return
        # Shielded: the caller is cancelled when another rebalance begins, threads can't be.
        self._opening = asyncio.ensure_future(self._open_all(claims, still_current, superseded))
        await asyncio.shield(self._opening)

    async def _open_all(self, claims: Sequence[Claim], still_current: Callable[[], bool], superseded: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        opening: list[Ownership] = []
        try:
            await self._each(lambda claim: opening.append(self._new(claim)), claims)
            if superseded.is_set():
                raise Abandoned  # fencing now could only hurt a newer owner
            await self._each(Ownership.fence, opening)
            changelogs = await loop.run_in_executor(self._executor, self._facts_reader().changelog_logs, [(c.changelog, c.partition) for c in claims])
            sources = await loop.run_in_executor(self._executor, self._facts_reader().source_logs, [(c.source, c.partition) for c in claims])
            restored = await self._each(
                lambda owner: owner.restore(changelogs[owner.claim.changelog, owner.claim.partition], superseded), opening
            )
            logs = [sources[owner.claim.source, owner.claim.partition] for owner in opening]
            positions = [first_position(owner, source) for owner, source in zip(opening, logs, strict=True)]
            if superseded.is_set() or not still_current():
                raise Abandoned
        except BaseException as exc:
            await self._each(Ownership.close, opening)
            if isinstance(exc, Abandoned):
                return
            raise
        for owner, rows, position, source in zip(opening, restored, positions, logs, strict=True):
            owner.open(position, source.end)
            self._open[owner.claim.agent, owner.claim.partition] = owner
            log.info(
                "partition_opened", agent=owner.claim.agent, partition=owner.claim.partition, generation=owner.claim.generation,
                position=position, restored_rows=rows.records, full_restore=rows.full_because, restore_seconds=round(rows.seconds, 3),
            )
        if any(rows.records >= MANY_ROWS for rows in restored):
            await loop.run_in_executor(self._executor, freed_memory.give_back)

    def _new(self, claim: Claim) -> Ownership:
        folder = Path(self._settings.data_dir) / "tables" / claim.agent / str(claim.partition)
        rows = PartitionRows(folder, self._limits)
        return Ownership(self._settings, claim, rows, TransactionalProducer(self._settings, claim.transactional_id(self._settings)), self._executor)

    def _facts_reader(self) -> BrokerFacts:
        if self._facts is None:
            self._facts = BrokerFacts(self._settings)
        return self._facts

    async def topic_ids(self, topics: Sequence[str]) -> dict[str, str]:
        """UUID of each topic."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._facts_reader().topic_ids, topics)

    async def _each(self, step: Callable[[Subject], Result], subjects: Sequence[Subject]) -> list[Result]:
        """Run a blocking step for all side by side, wait for all, then return the results or raise the first error."""
        loop = asyncio.get_running_loop()
        ended = await asyncio.gather(*(loop.run_in_executor(self._executor, step, subject) for subject in subjects), return_exceptions=True)
        results: list[Result] = []
        for result in ended:
            if isinstance(result, BaseException):
                raise result
            results.append(result)
        return results


def first_position(owner: Ownership, source: SourceLog) -> int:
    """Where deciding begins: the position row, else the log's start.

    Raises:
        StateUnusable: requests were handled before, but the rows that say which are gone.
    """
    claim = owner.claim
    if not owner.has_position_row:
        if source.group_offset is not None and source.group_offset > source.start:
            raise StateUnusable(
                f"{claim.source}-{claim.partition}: group {owner.group} has committed offset {source.group_offset}, but changelog "
                f"{claim.changelog} holds no position, so requests below it could be answered twice; bring the changelog back, "
                "or start with a new QR_APP_ID if a second outcome for old requests is acceptable"
            )
        return source.start
    if source.group_offset is not None and source.group_offset > max(owner.position, source.start):
        raise StateUnusable(
            f"{claim.source}-{claim.partition}: group {owner.group} has committed offset {source.group_offset}, but changelog "
            f"{claim.changelog} ends at position {owner.position}: its tail is lost, and requests between could be answered twice; "
            "bring the changelog back, or start with a new QR_APP_ID if a second outcome for them is acceptable"
        )
    if source.start > owner.position:
        log.error(
            "records_lost_by_retention", source=claim.source, partition=claim.partition,
            first=owner.position, last=source.start - 1, lost=source.start - owner.position,
        )
        return source.start
    return owner.position
