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
    return Marks(found.get(GENERATION, 0), found.get(ATTEMPT, 1), rerouted)
