"""Memory that a restore has freed, given back to the system."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress


def give_back() -> None:
    """Let glibc return the free pages of all its arenas; elsewhere nothing happens.

    A restore takes its records through librdkafka in threads of its own. What they free stays with the arenas of those
    threads, and a worker would hold it for as long as it runs (malloc_trim(3)).
    """
    if sys.platform == "linux":
        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
