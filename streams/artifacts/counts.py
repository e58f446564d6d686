"""What the store did, by operation and class, with its durations; nothing is published from here."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Literal

Operation = Literal["put", "get", "find", "replace"]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often, and how long in all and at most, in seconds."""

    count: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def and_one_of(self, seconds: float) -> Tally:
        """With one call more."""
        return Tally(self.count + 1, self.seconds + seconds, max(self.longest, seconds))


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """A moment's tallies by (operation, class).

    put: ok, adopted (equal bytes were there), mended (damaged ones were replaced), conflict, failed.
    get: ok, missing, corrupt, failed. find: found, missing, corrupt, failed. replace: ok, adopted, conflict, failed.
    A failed call is also in `failures` by its kind: timeout, connection, server, refused, damaged, io, injected, other.
    """

    calls: dict[tuple[Operation, str], Tally]
    failures: dict[tuple[Operation, str], int]

    def count(self, operation: Operation, outcome: str) -> int:
        """Calls of this operation that ended so; 0 if none did."""
        return self.calls.get((operation, outcome), Tally()).count


class Counter:
    """Collects tallies from all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: dict[tuple[Operation, str], Tally] = {}
        self._failures: dict[tuple[Operation, str], int] = {}

    def add(self, operation: Operation, outcome: str, seconds: float) -> None:
        """One call has ended."""
        with self._lock:
            self._calls[operation, outcome] = self._calls.get((operation, outcome), Tally()).and_one_of(seconds)

    def add_failure(self, operation: Operation, kind: str, seconds: float) -> None:
        """One call has failed."""
        with self._lock:
            self._calls[operation, "failed"] = self._calls.get((operation, "failed"), Tally()).and_one_of(seconds)
            self._failures[operation, kind] = self._failures.get((operation, kind), 0) + 1

    def now(self) -> StoreCounts:
        """What has been counted so far; later calls do not change it."""
        with self._lock:
            return StoreCounts(dict(self._calls), dict(self._failures))
