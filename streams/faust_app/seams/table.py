"""The Faust table whose rows live in ownerships: readable while a partition is owned, written only by batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from faust.stores.base import Store
from faust.tables.table import Table as FaustTable

from streams.faust_app.seams.owning_app import owning
from streams.ownership.ownership import Ownership


class WrittenOutsideBatchError(TypeError):
    """A row was set on the table itself; only a batch, with its transaction, may change rows."""


class OwnedStore(Store[bytes, bytes]):
    """Reads from the open ownerships; holds nothing itself, so Faust has nothing to open or recover."""

    def _ownerships(self) -> Iterable[Ownership]:
        changelog = self.table.changelog_topic.get_topic_name()
        return [owner for owner in owning(self.app).owners.all() if owner.claim.changelog == changelog]

    def persisted_offset(self, tp: Any) -> int | None:
        return None

    def set_persisted_offset(self, tp: Any, offset: int) -> None:
        raise WrittenOutsideBatchError("the checkpoint is written by the ownership")

    async def need_active_standby_for(self, tp: Any) -> bool:
        return False

    def apply_changelog_batch(self, batch: Any, to_key: Any, to_value: Any) -> None:
        raise WrittenOutsideBatchError("restores are read by the ownership")

    async def backup_partition(self, tp: Any, flush: bool = True, purge: bool = False, keep: int = 1) -> None:
        raise NotImplementedError("the changelog is the backup")

    def restore_backup(self, tp: Any, latest: bool = True, backup_id: int = 0) -> None:
        raise NotImplementedError("the changelog is the backup")

    def reset_state(self) -> None:
        """Nothing is held here."""

    async def on_rebalance(self, *args: Any, **kwargs: Any) -> None:
        """Ownerships are opened by the recovery."""

    async def on_recovery_completed(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is buffered here."""

    def __getitem__(self, key: bytes) -> bytes:
        for owner in self._ownerships():
            value = owner.row(key)
            if value is not None:
                return value
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, bytes) and any(owner.row(key) is not None for owner in self._ownerships())

    def __setitem__(self, key: bytes, value: bytes) -> None:
        raise WrittenOutsideBatchError(key)

    def __delitem__(self, key: bytes) -> None:
        raise WrittenOutsideBatchError(key)

    def __iter__(self) -> Iterator[bytes]:
        for owner in self._ownerships():
            yield from owner.row_keys()

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Table(FaustTable[bytes, bytes]):
    """A table of raw bytes behind ownerships."""

    def _new_store(self) -> OwnedStore:
        return OwnedStore("owned://", self.app, self, table_name=self.name, key_type=bytes, value_type=bytes, loop=self.loop)

    def on_key_set(self, key: bytes, value: bytes) -> None:
        raise WrittenOutsideBatchError(key)

    def on_key_del(self, key: bytes) -> None:
        raise WrittenOutsideBatchError(key)
