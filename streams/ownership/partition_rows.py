"""The rows of one owned partition: a RocksDB of raw bytes with the checkpoint beside them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import rocksdict

from streams.ownership.checkpoint import Checkpoint
from streams.ownership.errors import StateUnusable
from streams.ownership.expiring_rows import INDEX, Due, entry, read_entry

CHECKPOINT_KEY = b"local/checkpoint"
"""Never in the changelog: it describes this copy, not the partition."""


@dataclass(frozen=True, slots=True)
class RocksLimits:
    """Memory of all RocksDBs of a process: one block cache for all, one write buffer each (bytes)."""

    cache: rocksdict.Cache
    write_buffer: int

    def options(self) -> rocksdict.Options:
        """RocksDB options; without them each DB may take 2 GiB."""
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_write_buffer_size(self.write_buffer)
        options.set_max_write_buffer_number(2)
        options.set_max_open_files(64)
        options.set_keep_log_file_num(1)
        # Opening 64 partitions in parallel must not leave 64 background pools.
        options.increase_parallelism(1)
        table = rocksdict.BlockBasedOptions()
        table.set_block_cache(self.cache)
        table.set_bloom_filter(10, False)
        table.set_cache_index_and_filter_blocks(True)
        options.set_block_based_table_factory(table)
        return options


class PartitionRows:
    """One partition's RocksDB. Not shared between ownerships: who opens it closes it."""

    def __init__(self, path: Path, limits: RocksLimits) -> None:
        """Open, or make, the RocksDB in `path`.

        Raises:
            StateUnusable: another process holds it, or the folder cannot be written.
        """
        self.path = path
        self._limits = limits
        self._db = self._open()

    def _open(self) -> rocksdict.Rdict:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return rocksdict.Rdict(str(self.path), self._limits.options())
        except Exception as exc:  # rocksdict raises bare Exceptions
            raise StateUnusable(f"{self.path} cannot be opened: {exc}; if no other worker uses it, delete this folder: it is restored from the changelog") from exc

    def get(self, key: bytes) -> bytes | None:
        """The row's bytes, or None."""
        value: bytes | None = self._db.get(key)
        return value

    def keys(self) -> Iterator[bytes]:
        """Keys of all rows in order; the checkpoint and the expiry index are no rows."""
        for key in self._db.keys():  # noqa: SIM118  # an Rdict is no dict
            if isinstance(key, bytes) and key != CHECKPOINT_KEY and not key.startswith(INDEX):
                yield key

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Rows whose keys begin with `prefix`, in order."""
        for key, value in self._db.items(from_key=prefix):
            if not isinstance(key, bytes) or not key.startswith(prefix):
                return
            yield key, bytes(value)

    def due(self, until_ms: int) -> Iterator[Due]:
        """Entries of the expiry index up to an instant (milliseconds since the epoch), the oldest first."""
        for key in self._db.keys(from_key=INDEX):
            if not isinstance(key, bytes) or not key.startswith(INDEX):
                return
            found = read_entry(key)
            if found.expires_ms > until_ms:
                return
            yield found

    def checkpoint(self) -> Checkpoint | None:
        """Up to where the rows hold the changelog; None if they hold nothing."""
        raw = self._db.get(CHECKPOINT_KEY)
        return None if raw is None else Checkpoint.decode(raw)

    def write(self, rows: Mapping[bytes, bytes | None], checkpoint: Checkpoint, passed: Iterable[bytes] = ()) -> None:
        """Rows (None deletes), their expiry entries and the checkpoint in one atomic WriteBatch.

        `passed` are entries of the expiry index that are done with.
        """
        batch = rocksdict.WriteBatch(raw_mode=True)
        for key in passed:
            batch.delete(key)
        for key, value in rows.items():
            if value is None:
                batch.delete(key)
            else:
                batch.put(key, value)
                expires = entry(key, value)
                if expires is not None:
                    batch.put(expires, b"")
        batch.put(CHECKPOINT_KEY, checkpoint.encode())
        self._db.write(batch)

    def wipe(self) -> None:
        """Forget every row, so that a restore starts from an empty folder."""
        self._db.close()
        shutil.rmtree(self.path)
        self._db = self._open()

    def close(self) -> None:
        """Release the folder for the next owner."""
        self._db.close()
