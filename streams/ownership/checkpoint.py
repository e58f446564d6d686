"""Up to where a local RocksDB holds its changelog partition, and when that may still be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The last changelog record that a RocksDB contains.

    Attributes:
        topic_id: UUID of the changelog topic; a topic made anew under the same name has another.
        offset: of the last record applied.
        written_ms: wall clock when it was applied, milliseconds since the epoch.
    """

    topic_id: str
    offset: int
    written_ms: int

    def encode(self) -> bytes:
        """As stored beside the rows, in the same WriteBatch."""
        return f"{self.topic_id} {self.offset} {self.written_ms}".encode()

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """Read what `encode` wrote."""
        topic_id, offset, written_ms = raw.decode().split(" ")
        return cls(topic_id, int(offset), int(written_ms))


@dataclass(frozen=True, slots=True)
class ChangelogLog:
    """What the broker says of a changelog partition: its topic's UUID, first offset and end offset."""

    topic_id: str
    start: int
    end: int


def reason_to_restore_in_full(checkpoint: Checkpoint | None, log: ChangelogLog, now_ms: int, delete_retention_ms: int) -> str | None:
    """Why the local rows can't be continued from, or None if they can.

    A tombstone may be gone `delete_retention_ms` after it was compacted: rows older than that could
    miss a deletion for ever. Half of it leaves room for the restore itself and for clocks that differ.
    """
    if checkpoint is None:
        return "no checkpoint"
    if checkpoint.topic_id != log.topic_id:
        return "another changelog topic"
    if checkpoint.offset >= log.end:
        return "past the changelog's end"
    if checkpoint.offset + 1 < log.start:
        return "before the changelog's start"
    if now_ms - checkpoint.written_ms > delete_retention_ms // 2:
        return "too old"
    return None
