"""What one micro-batch will do to the world, collected before anything happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Headers = list[tuple[str, str | bytes | None]]


@dataclass(slots=True)
class OutgoingRecord:
    """One record of the transaction.

    Attributes:
        partition: None leaves the choice to the partitioner.
        origin: offset of the request that caused it, to name the culprit if it is too large.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers | None
    origin: int
    partition: int | None = None


@dataclass(slots=True)
class Batch:
    """Pending rows and records of one transaction, readable while they are still pending.

    Later events of the batch see the rows of earlier ones; nobody else does before the commit.

    Attributes:
        base: the ownership's position when deciding began; the batch may only be committed while it is still that.
        position: the next offset to decide once the batch is committed.
    """

    read_committed_row: Callable[[bytes], bytes | None]
    base: int
    position: int
    rows: dict[bytes, bytes | None] = field(default_factory=dict)
    row_origins: dict[bytes, int] = field(default_factory=dict)
    records: list[OutgoingRecord] = field(default_factory=list)
    output_bytes: int = 0

    def get(self, key: bytes) -> bytes | None:
        """The row as this batch leaves it."""
        if key in self.rows:
            return self.rows[key]
        return self.read_committed_row(key)

    def put(self, key: bytes, value: bytes | None, origin: int) -> None:
        """Write a row; None deletes it."""
        self.rows[key] = value
        self.row_origins[key] = origin
        self.output_bytes += len(key) + len(value or b"")

    def send(self, record: OutgoingRecord) -> None:
        """Add a record to the transaction."""
        self.records.append(record)
        self.output_bytes += len(record.value or b"")
