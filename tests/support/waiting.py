"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_POLL_SECONDS = 0.05


def wait_until(condition: Callable[[], T], deadline_s: float, what: str) -> T:
    """The first truthy value of `condition`, asked some 20 times a second.

    Raises AssertionError naming `what` and the last value when `deadline_s` seconds have passed.
    """
    end = time.monotonic() + deadline_s
    while not (value := condition()):
        if time.monotonic() >= end:
            msg = f"not within {deadline_s:g} s: {what} (last value: {value!r})"
            raise AssertionError(msg)
        time.sleep(_POLL_SECONDS)
    return value
