"""Headers with which the stream marks the requests it sends on itself."""

from __future__ import annotations

from collections.abc import Iterable

GENERATION = "qr-generation"
"""Replay generation, a decimal number; 0 when absent. A dead letter's replay carries the next one."""
ATTEMPT = "qr-attempt"
"""Which attempt the record asks for, a decimal number; 1 when absent."""
REROUTED = "qr-rerouted"
"""Partition from which the record was routed to the one of its key."""

_MOST_DIGITS = 9
"""Longer would overflow the events' 32-bit fields."""


def number(headers: Iterable[tuple[str, bytes | None]], name: str, default: int) -> int:
    """A decimal header; `default` when it is absent or no number (a stranger's header can't stop the stream)."""
    for key, value in headers:
        if key == name and value is not None and value.isdigit() and len(value) <= _MOST_DIGITS:
            return int(value)
    return default


def has(headers: Iterable[tuple[str, bytes | None]], name: str) -> bool:
    """Whether the header is there."""
    return any(key == name for key, _ in headers)
