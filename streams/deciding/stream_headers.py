"""Headers with which the stream marks the requests it sends on itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

GENERATION = "qr-generation"
"""Replay generation, a decimal number; 0 when absent. A dead letter's replay carries the next one."""
ATTEMPT = "qr-attempt"
"""Which attempt the record asks for, a decimal number; 1 when absent."""
REROUTED = "qr-rerouted"
"""Partition from which the record was routed to the one of its key."""

DUE = "qr-due"
"""When a parked record is to come back: milliseconds since the epoch, decimal."""
FIRST_ERROR = "qr-first-error"
"""Code of the failure after which the request was parked for the first time."""
LAST_ERROR = "qr-last-error"
"""Code of the failure after which it was parked this time."""
FIRST_FAILURE = "qr-first-failure"
"""When it failed for the first time: milliseconds since the epoch, decimal."""

_MOST_DIGITS = 9
"""Longer would overflow the events' 32-bit fields."""


class Marks(NamedTuple):
    """What a record's headers say of its way through the stream; the defaults are those of a new request."""

    generation: int = 0
    attempt: int = 1
    rerouted: bool = False


_NEW = Marks()


def marks(headers: Iterable[tuple[str, bytes | None]]) -> Marks:
    """Read the marks; of a name that comes twice the first with a number counts.

    A header that is no number is as good as absent: a stranger's header can't stop the stream.
    """
    found: dict[str, int] = {}
    rerouted = False
    for name, value in headers:
        if name.startswith("qr-"):
            if name == REROUTED:
                rerouted = True
            elif value is not None and value.isdigit() and len(value) <= _MOST_DIGITS:
                found.setdefault(name, int(value))
    if not found and not rerouted:
        return _NEW
    return Marks(found.get(GENERATION, 0), found.get(ATTEMPT) or 1, rerouted)


_MOST_TIME_DIGITS = 15
"""Of milliseconds: some 31,000 years. What is longer is no time."""


def moment_ms(headers: Iterable[tuple[str, bytes | None]], name: str) -> int | None:
    """Read a time (DUE, FIRST_FAILURE); of a name that comes twice the first readable one, None without any."""
    for found, value in headers:
        if found == name and value is not None and value.isdigit() and len(value) <= _MOST_TIME_DIGITS:
            return int(value)
    return None


_OF_A_PARKED_RECORD = frozenset({GENERATION, ATTEMPT, DUE, FIRST_ERROR, LAST_ERROR, FIRST_FAILURE})


def parked(headers: Iterable[tuple[str, bytes | None]], marks: Marks, due_ms: int, error: str, now_ms: int) -> list[tuple[str, str | bytes | None]]:
    """Headers of a record that goes to a delay topic: its own, without older ones of these, and ours.

    `marks.attempt` is what it asks for when it comes back. Of the first failure it keeps what it bore already.
    """
    before = dict(headers)
    kept: list[tuple[str, str | bytes | None]] = [(name, value) for name, value in headers if name not in _OF_A_PARKED_RECORD]
    return [
        *kept,
        (GENERATION, b"%d" % marks.generation),
        (ATTEMPT, b"%d" % marks.attempt),
        (DUE, b"%d" % due_ms),
        (FIRST_ERROR, before.get(FIRST_ERROR) or error),
        (LAST_ERROR, error),
        (FIRST_FAILURE, before.get(FIRST_FAILURE) or b"%d" % now_ms),
    ]

