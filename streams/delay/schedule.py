"""Which parked records are due: one FIFO a partition, bounded in memory; no Kafka and no clock.

A record leaves its queue when the transaction that forwarded it is committed, so an aborted one is simply
done again. What is not in a queue is in the log: a partition whose queue is full is paused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

Place = tuple[str, int]
"""Topic and partition."""
Header = tuple[str, bytes | None]

MOST_RECORDS = 20_000
"""Held over all partitions; two seconds' worth at the rate that is aimed at, so that fetching is never waited for."""
MOST_BYTES = 64 << 20
"""Held over all partitions. Each may hold one record more, whatever its size."""


class Going(IntEnum):
    """Where a record goes; a broker that refuses it for its size moves it on by one."""

    TO_REQUESTED = 0
    TO_DEAD_LETTERS = 1
    TO_DEAD_LETTERS_WITHOUT_VALUE = 2


@dataclass(slots=True)
class Parked:
    """One record of a retry topic, as it was.

    Attributes:
        due_ms: since the epoch; what has no readable due time has that of its arrival.
        held_up_ms: the greatest due time of it and of those ahead of it: a FIFO cannot forward it earlier.
    """

    offset: int
    due_ms: int
    key: bytes | None
    value: bytes | None
    headers: list[Header]
    size: int
    going: Going = Going.TO_REQUESTED
    held_up_ms: int = 0


@dataclass(slots=True)
class _Queue:
    records: deque[Parked] = field(default_factory=deque)
    size: int = 0
    next_offset: int = 0
    held_up_ms: int = 0
    paused: bool = False


Batch = list[tuple[Place, Parked]]


class Schedule:
    """The queues of the partitions that this process owns in one generation of its group."""

    def __init__(self, most_records: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._queues: dict[Place, _Queue] = {}

    def assign(self, places: Iterable[Place]) -> None:
        """Own these partitions and no others, with nothing taken yet."""
        self._queues = {place: _Queue() for place in places}

    def take(self, place: Place, parked: Parked) -> bool:
        """Add a fetched record behind its partition's others; False, and nothing else, if it was taken before or is nobody's."""
        queue = self._queues.get(place)
        if queue is None or parked.offset < queue.next_offset:
            return False
        queue.next_offset = parked.offset + 1
        queue.held_up_ms = parked.held_up_ms = max(queue.held_up_ms, parked.due_ms)
        queue.records.append(parked)
        queue.size += parked.size
        return True

    def earliest_ms(self) -> int | None:
        """When the next record is due; None when nothing is held."""
        return min((queue.records[0].due_ms for queue in self._queues.values() if queue.records), default=None)

    def due(self, now_ms: int, most_records: int, most_bytes: int) -> Batch:
        """Records that are due, in order within each partition, the partition that waited longest first; they stay held.

        At most so many records and bytes, but one record in any case.
        """
        batch: Batch = []
        size = 0
        for place, queue in sorted(self._queues.items(), key=lambda item: item[1].records[0].due_ms if item[1].records else now_ms + 1):
            for parked in queue.records:
                if parked.due_ms > now_ms:
                    break
                if batch and (len(batch) >= most_records or size + parked.size > most_bytes):
                    return batch
                batch.append((place, parked))
                size += parked.size
        return batch

    def forwarded(self, batch: Batch) -> None:
        """Let go of what a committed transaction has forwarded.

        Raises:
            ValueError: it is not what stands first; the order would be lost.
        """
        for place, parked in batch:
            queue = self._queues[place]
            if queue.records.popleft() is not parked:
                raise ValueError(f"{place[0]}-{place[1]}: offset {parked.offset} was not the first")
            queue.size -= parked.size

    def to_pause(self) -> list[Place]:
        """Partitions whose queue has become full; they count as paused from now on."""
        share = max(1, len(self._queues))
        full = [
            place for place, queue in self._queues.items()
            if not queue.paused and (len(queue.records) * share >= self._most_records or queue.size * share >= self._most_bytes)
        ]
        for place in full:
            self._queues[place].paused = True
        return full

    def to_resume(self) -> list[Place]:
        """Paused partitions whose queue is half empty; they count as fetched from now on.

        Half, because what a client has fetched ahead is dropped by a pause, and each would cost a fetch.
        """
        share = 2 * max(1, len(self._queues))
        wanted = [
            place for place, queue in self._queues.items()
            if queue.paused and len(queue.records) * share < self._most_records and (queue.size * share < self._most_bytes or not queue.records)
        ]
        for place in wanted:
            self._queues[place].paused = False
        return wanted

    def paused(self) -> list[Place]:
        """Partitions that are paused now."""
        return [place for place, queue in self._queues.items() if queue.paused]

    @property
    def held(self) -> int:
        """Records in memory."""
        return sum(len(queue.records) for queue in self._queues.values())
