"""A partition of a test: requests in, outcomes out, with a clock that the test moves."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from itertools import count
from typing import Any, cast

import pytest

from processors.canonical import identify
from processors.errors import RenderRefused
from schemas.codec import Codec
from schemas.events import RenderCompleted, RenderFailed, RenderRequested, ResultRow
from streams.artifacts.opening import open_store
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.micro_batch import run_micro_batch, tend
from streams.ownership.batch import OutgoingRecord
from streams.ownership.expiring_rows import without_expiry
from streams.ownership.ownership import Ownership
from streams.settings import load_settings
from tests.support.in_process import InProcessRenderer, in_process_decider
from tests.support.memory_owner import MemoryOwnership

CODEC = Codec()
BEGIN_MS = 1_800_000_000_000
SECOND = 1_000


class Partition:
    """Decides whatever is sent to it at once.

    Attributes:
        now_ms: what the wall clock shows.
    """

    def __init__(self, executor: Executor, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.settings = load_settings(broker="127.0.0.1:1", partitions=1, **settings)
        self.renderer = InProcessRenderer()
        self.store = open_store(self.settings)
        self.decider = in_process_decider(self.settings, CODEC, self.renderer, self.store)
        self.owner = MemoryOwnership(executor)
        self.now_ms = BEGIN_MS
        self._offsets = count()
        monkeypatch.setattr("streams.deciding.carry_out.now_ms", lambda: self.now_ms)

    def request(self, name: str, content: str = "x", **fields: Any) -> RenderRequested:
        """A request with an id."""
        return RenderRequested(request_id=name, content=content, requested_at=self.now_ms, **fields)

    def send(self, *requests: RenderRequested, headers: tuple[tuple[str, bytes | None], ...] = ()) -> None:
        """In one micro-batch."""
        self.deliver(*((identify(request)[1].encode(), CODEC.encode(request), headers) for request in requests))

    def deliver(self, *records: tuple[bytes | None, bytes, tuple[tuple[str, bytes | None], ...]]) -> None:
        """Records as they are, in one micro-batch."""
        events = []
        for key, value, headers in records:
            offset = next(self._offsets)
            events.append(DeliveredEvent(offset, offset, 3, key, value, headers))
        assert asyncio.run(run_micro_batch(cast(Ownership, self.owner), self.decider, events, lambda: True))

    def bring_back(self, record: OutgoingRecord) -> None:
        """What the forwarder does with a parked record whose time has come."""
        headers = dict(record.headers or [])
        self.now_ms = max(self.now_ms, int(headers["qr-due"] or 0))
        kept = tuple((name, value.encode() if isinstance(value, str) else value) for name, value in record.headers or [])
        self.deliver((record.key, record.value or b"", kept))

    def tend(self) -> None:
        """What the clock asks for."""
        self.owner.chores = True
        asyncio.run(tend(cast(Ownership, self.owner), self.decider, lambda: True))

    def outcomes(self) -> list[tuple[str, str]]:
        """(request id, source or error code) of every outcome, in order."""
        found = []
        for batch in self.owner.committed:
            for record in batch.records:
                if record.topic.endswith("completed"):
                    completed = CODEC.decode(record.value or b"", RenderCompleted)
                    found.append((completed.request_id, completed.source))
                elif record.topic.endswith("failed"):
                    failed = CODEC.decode(record.value or b"", RenderFailed)
                    found.append((failed.request_id, failed.error_code))
        return found

    def parked(self) -> list[OutgoingRecord]:
        """Every record sent to a delay topic."""
        return [record for batch in self.owner.committed for record in batch.records if ".retry." in record.topic]

    def letters(self) -> list[OutgoingRecord]:
        """Every dead letter."""
        return self.owner.records(".dlq")

    def result(self, content: str = "x") -> ResultRow | None:
        """The result row of a content."""
        raw = self.owner.rows.get(b"result/" + identify(self.request("", content))[1].encode())
        return None if raw is None else CODEC.decode(without_expiry(raw), ResultRow)

    def keys(self, prefix: bytes) -> list[bytes]:
        """Keys of the rows under a prefix."""
        return sorted(key for key in self.owner.rows if key.startswith(prefix))


def transient() -> RenderRefused:
    """A failure that passes."""
    return RenderRefused("render_timeout")
