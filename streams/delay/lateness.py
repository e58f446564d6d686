"""How late records are forwarded, as a histogram that stays small however many there are."""

from __future__ import annotations

import math
from collections import Counter

_DIGITS = 2
"""Significant ones that are kept: a figure is at most 10 % too high, and ten decades need 900 numbers."""


class Lateness:
    """Milliseconds between the time at which a record could first be forwarded and its commit."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, milliseconds: int) -> None:
        """Count one record; a negative lateness, as after a clock was set back, is none."""
        value = max(0, milliseconds)
        step = 10 ** max(0, len(str(value)) - _DIGITS)
        self._counts[-(-value // step) * step] += 1

    @property
    def count(self) -> int:
        """Records counted."""
        return self._counts.total()

    def quantile(self, part: float) -> int:
        """Milliseconds that this part of the records did not exceed; 0 without any."""
        wanted = math.ceil(part * self.count)
        seen = 0
        for value, number in sorted(self._counts.items()):
            seen += number
            if seen >= wanted:
                return value
        return 0

    def summary(self) -> dict[str, int]:
        """For a line of the log."""
        return {"lateness_p50_ms": self.quantile(0.5), "lateness_p99_ms": self.quantile(0.99), "lateness_max_ms": self.quantile(1.0)}
