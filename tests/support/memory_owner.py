"""An ownership whose rows and transactions are in memory, for tests of what is decided; no broker, no RocksDB."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TypeVar

from streams.ownership.batch import Batch, OutgoingRecord
from streams.ownership.expiring_rows import Due, entry, read_entry
from streams.ownership.ownership import Claim

Result = TypeVar("Result")


class MemoryOwnership:
    """Commits into dictionaries; fails as the script says first.

    Attributes:
        script: what the next commits raise; None for one that succeeds.
        committed: every batch that was committed, in order.
        chores: whether chores are due.
    """

    def __init__(self, executor: Executor, script: list[BaseException | None] | None = None, *, partition: int = 0, agent: str = "render") -> None:
        source, changelog = {"render": ("requested", "renders"), "intake": ("intake", "claims")}[agent]
        self.claim = Claim(agent, f"qr.render.{source}", "uuid", f"qrstream-{changelog}-changelog", partition, generation=3)
        self.executor = executor
        self.position = 0
        self.source_end = 0
        self.append_time_ms = 1 << 62
        self.rows: dict[bytes, bytes] = {}
        self.committed: list[Batch] = []
        self.script = script or []
        self.chores = False
        self._index: set[bytes] = set()

    @contextmanager
    def deciding(self) -> Iterator[Batch]:
        """A batch over the rows as they are."""
        yield Batch(self.rows.get, 0, self.position, self.source_end, self._scan)

    def _scan(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        return sorted((key, value) for key, value in self.rows.items() if key.startswith(prefix))

    def due(self, until_ms: int) -> Iterator[Due]:
        """Index entries up to an instant."""
        for raw in sorted(self._index):
            found = read_entry(raw)
            if found.expires_ms <= until_ms:
                yield found

    def chores_are_due(self) -> bool:
        """As the test says."""
        return self.chores

    def chores_done(self, *, more: bool) -> None:
        """Until the test says so again, unless there is more."""
        self.chores = more

    def clock_is_behind(self, now_ms: int) -> bool:
        """The broker's clock is known."""
        return now_ms > self.append_time_ms and any(True for _ in self.due(now_ms)) and not any(True for _ in self.due(self.append_time_ms))

    async def in_thread(self, steps: Callable[[], Result]) -> Result:
        """In a thread, as the real one."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, steps)

    def commit(self, batch: Batch) -> None:
        """What the script says, then all of the batch or nothing."""
        planned = self.script.pop(0) if self.script else None
        if planned is not None:
            raise planned
        batch.rows[self.claim.position_key] = b"%d" % batch.position
        self._index -= set(batch.passed)
        for key, value in batch.rows.items():
            if value is None:
                self.rows.pop(key, None)
                continue
            self.rows[key] = value
            expires = entry(key, value)
            if expires is not None:
                self._index.add(expires)
        self.position = batch.position
        self.committed.append(batch)

    def reindex(self) -> None:
        """After rows were put there by hand."""
        self._index = {expires for key, value in self.rows.items() if (expires := entry(key, value)) is not None}

    def records(self, topic_end: str) -> list[OutgoingRecord]:
        """Every record committed to topics whose names end so, in order."""
        return [record for batch in self.committed for record in batch.records if record.topic.endswith(topic_end)]
