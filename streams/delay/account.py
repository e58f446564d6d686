"""What the forwarder tells of itself: a line a minute, one at the end, and each oddity once."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from streams.delay.lateness import Lateness
from streams.delay.reading import Oddity
from streams.delay.schedule import Batch, Going, Place

log = structlog.get_logger("streams.delay")

MINUTE_SECONDS = 60.0


class _Counts:
    def __init__(self) -> None:
        self.forwarded = self.dead_letters = self.transactions = self.aborted = 0
        self.lateness = Lateness()

    def facts(self) -> dict[str, int]:
        counts = {"forwarded": self.forwarded, "dead_letters": self.dead_letters, "transactions": self.transactions, "aborted": self.aborted}
        return {**counts, **self.lateness.summary()}


class Account:
    """Counts of this minute and of this process; only what was committed counts as forwarded."""

    def __init__(self, now_s: float) -> None:
        self._minute, self._all = _Counts(), _Counts()
        self._told_at = now_s
        self._warned: set[Oddity] = set()

    def committed(self, batch: Batch, now_ms: int) -> None:
        """A transaction is committed."""
        for counts in (self._minute, self._all):
            counts.transactions += 1
            for _, parked in batch:
                counts.lateness.add(now_ms - parked.held_up_ms)
                if parked.going is Going.TO_REQUESTED:
                    counts.forwarded += 1
                else:
                    counts.dead_letters += 1

    def aborted(self) -> None:
        """A transaction was aborted."""
        self._minute.aborted += 1
        self._all.aborted += 1

    def odd(self, place: Place, offset: int, oddities: Iterable[Oddity]) -> None:
        """Warn of what a record should not look like, the first time."""
        for oddity in oddities:
            if oddity not in self._warned:
                self._warned.add(oddity)
                log.warning("parked_record_odd", topic=place[0], partition=place[1], offset=offset, reason=str(oddity))

    def tell(self, now_s: float, held: int) -> None:
        """The line of a minute, when one has passed; `held` is how many records wait in memory."""
        if now_s - self._told_at >= MINUTE_SECONDS:
            log.info("delay_minute", held=held, **self._minute.facts())
            self._minute, self._told_at = _Counts(), now_s

    def tell_all(self) -> None:
        """The last line."""
        log.info("delay_stopped", **self._all.facts())
