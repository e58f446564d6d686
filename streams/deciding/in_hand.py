"""What goes in and out of deciding one batch, beside the events and the batch itself."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from processors.arrival import Arrival
from streams.deciding.side_effects import Found, Need

MOST_NEEDS = 64
"""More hold results in memory that the batch's bound on bytes might not take, and keep a rebalance waiting."""


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier tries have shown of offsets.

    Attributes:
        too_large: their output was refused for its size, so they fail with `output_too_large`.
        deaths: how often the worker has died while it handled them.
    """

    too_large: frozenset[int] = frozenset()
    deaths: Mapping[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Decided:
    """How far deciding came.

    Attributes:
        taken: how many of the given events were dealt with, redelivered ones included.
        skipped: True if the next event continues beyond the position; nothing after it was looked at.
        counts: decisions by kind.
        needs: what the next events need before they can be decided.
    """

    taken: int = 0
    skipped: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    needs: list[Need] = field(default_factory=list)


@dataclass(slots=True)
class InHand:
    """What the transactions of one micro-batch have at hand.

    Attributes:
        prepared: what step 3 has brought, the newest last, failures too: each is the answer to an attempt. What one
            transaction did not come to, or lost when it was aborted, need not be made again for the next.
        arrivals: events read ahead.
        deciding_until: monotonic seconds from which on no further event is decided; time that step 3 takes does not count,
            or what it has brought would be thrown away.
        preparing_until: monotonic seconds from which on step 3 is not begun again.
    """

    prepared: dict[str, Found] = field(default_factory=dict)
    arrivals: dict[int, Arrival] = field(default_factory=dict)
    deciding_until: float = 0.0
    preparing_until: float = 0.0

    def begin(self, seconds: float) -> None:
        """A transaction begins, with that much time."""
        self.deciding_until = self.preparing_until = time.monotonic() + seconds

    def add(self, found: Mapping[str, Found], seconds: float) -> None:
        """What step 3 has brought, and how long that took."""
        self.deciding_until += seconds
        self.prepared |= found
        for name in list(self.prepared)[:-MOST_NEEDS]:
            del self.prepared[name]


def now_ms() -> int:
    """The wall clock, milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
