"""What one micro-batch will do to the world, collected before anything happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

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
        base: the ownership's version when deciding began; the batch may only be committed while it is still that.
        position: the next offset to decide once the batch is committed.
        source_end: the source's end when the ownership opened; what lies below may have been handled before.
        passed: entries of the expiry index that are done with; local, so in no record.
    """

    read_committed_row: Callable[[bytes], bytes | None]
    base: int
    position: int
    source_end: int = 0
    scan_committed_rows: Callable[[bytes], Iterable[tuple[bytes, bytes]]] = lambda _prefix: ()
    rows: dict[bytes, bytes | None] = field(default_factory=dict)
    row_origins: dict[bytes, int] = field(default_factory=dict)
    records: list[OutgoingRecord] = field(default_factory=list)
    passed: list[bytes] = field(default_factory=list)
    output_bytes: int = 0

    def get(self, key: bytes) -> bytes | None:
        """The row as this batch leaves it."""
        if key in self.rows:
            return self.rows[key]
        return self.read_committed_row(key)

    def scan(self, prefix: bytes, most: int) -> list[tuple[bytes, bytes]]:
        """The first rows whose keys begin with `prefix`, in order, as this batch leaves them."""
        pending = {key: value for key, value in self.rows.items() if key.startswith(prefix)}
        untouched = ((key, value) for key, value in self.scan_committed_rows(prefix) if key not in pending)
        found = dict(islice(untouched, most)) | {key: value for key, value in pending.items() if value is not None}
        return sorted(found.items())[:most]

    def put(self, key: bytes, value: bytes | None, origin: int) -> None:
        """Write a row; None deletes it."""
        self.rows[key] = value
        self.row_origins[key] = origin
        self.output_bytes += len(key) + len(value or b"")

    def send(self, record: OutgoingRecord) -> None:
        """Add a record to the transaction."""
        self.records.append(record)
        self.output_bytes += len(record.value or b"")
