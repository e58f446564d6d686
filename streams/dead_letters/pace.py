"""No more letters a second than the operator allows."""

from __future__ import annotations

import time
from collections.abc import Callable

_LONGEST_NAP_SECONDS = 0.2
"""How long an operator who stops it waits for the end of a pause."""


class Pace:
    """Holds back between transactions, never inside one: an open transaction hides what comes behind it."""

    def __init__(self, rate: float | None, clock: Callable[[], float] = time.monotonic, nap: Callable[[float], None] = time.sleep) -> None:
        """`rate` is letters a second; None never waits."""
        self._rate = rate
        self._clock = clock
        self._nap = nap
        self._next = clock()

    def wait(self, letters: int, stopped: Callable[[], bool]) -> None:
        """Until so many letters may follow what went before, or `stopped`.

        What was slower than the rate is not caught up with: the rate is what the workers behind are to bear.
        """
        if self._rate is None:
            return
        while (left := self._next - self._clock()) > 0 and not stopped():
            self._nap(min(left, _LONGEST_NAP_SECONDS))
        self._next = max(self._next, self._clock()) + letters / self._rate
