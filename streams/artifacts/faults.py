"""A store that fails and dawdles on purpose, for tests of retries and for drills; never in production."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from streams.artifacts.deadline import Deadline
from streams.artifacts.errors import StoreUnavailable
from streams.artifacts.objects import Objects, StoredObject
from streams.settings import Settings


@dataclass(frozen=True, slots=True)
class StoreFaults:
    """What is to go wrong.

    Attributes:
        rate: share of puts that fail, 0 to 1.
        seconds: that each call takes longer.
        hashes: beginnings of the content hashes concerned, in hex; empty for all.
        seed: chooses which puts fail.
    """

    rate: float
    seconds: float
    hashes: tuple[str, ...]
    seed: int

    def concern(self, content_hash: str) -> bool:
        """Whether this hash is one of those chosen."""
        return not self.hashes or content_hash.startswith(self.hashes)

    def fail(self, content_hash: str, attempt: int) -> bool:
        """Whether the put number `attempt` (from 1) of this hash in one process fails: the same in every run."""
        drawn = sha256(f"{self.seed}/{content_hash}/{attempt}".encode()).digest()
        return self.concern(content_hash) and int.from_bytes(drawn[:8], "big") < self.rate * 2**64


def store_faults(settings: Settings) -> StoreFaults | None:
    """The faults that QR_FAULT_STORE_* asks for; None for none."""
    if not settings.fault_store_rate and not settings.fault_store_seconds:
        return None
    hashes = tuple(part for part in (settings.fault_store_hashes or "").split(",") if part)
    return StoreFaults(settings.fault_store_rate, settings.fault_store_seconds, hashes, settings.fault_seed)


class FaultyStore:
    """Objects of another store, with faults before the real call."""

    def __init__(self, objects: Objects, faults: StoreFaults, longest: float) -> None:
        """`longest`: seconds that one request may take before it counts as timed out."""
        self._objects = objects
        self._faults = faults
        self._longest = longest
        self._lock = Lock()
        self._puts: Counter[str] = Counter()

    @property
    def keeps_first(self) -> bool:
        """As the real store."""
        return self._objects.keeps_first

    def reference(self, key: str) -> str:
        """As the real store."""
        return self._objects.reference(key)

    def read(self, key: str, deadline: Deadline) -> StoredObject | None:
        """Late, then as the real store."""
        self._dawdle(key)
        return self._objects.read(key, deadline)

    def create(self, key: str, content: bytes, checksum: str, deadline: Deadline) -> bool:
        """Late and perhaps failed, or as the real store."""
        self._dawdle(key)
        self._fail(key)
        return self._objects.create(key, content, checksum, deadline)

    def replace(self, key: str, content: bytes, checksum: str, seen: StoredObject | None, deadline: Deadline) -> bool:
        """Late and perhaps failed, or as the real store."""
        self._dawdle(key)
        self._fail(key)
        return self._objects.replace(key, content, checksum, seen, deadline)

    def _dawdle(self, key: str) -> None:
        if self._faults.seconds and self._faults.concern(_hash_of(key)):
            time.sleep(min(self._faults.seconds, self._longest))
            if self._faults.seconds >= self._longest:
                raise StoreUnavailable(f"{key}: no answer in time (QR_FAULT_STORE_SECONDS)", "timeout")

    def _fail(self, key: str) -> None:
        content_hash = _hash_of(key)
        with self._lock:
            self._puts[content_hash] += 1
            attempt = self._puts[content_hash]
        if self._faults.fail(content_hash, attempt):
            raise StoreUnavailable(f"{key}: put {attempt} fails on purpose (QR_FAULT_STORE_RATE)", "injected")


def _hash_of(key: str) -> str:
    return key.rpartition("/")[2].partition(".")[0]
