"""From a record of a retry topic to what the schedule holds; whatever shape it has, it is forwarded."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from streams.deciding.stream_headers import ATTEMPT, DUE, moment_ms
from streams.delay.schedule import Header, Parked


class Oddity(StrEnum):
    """What a parked record should not look like; each is warned of once a process."""

    NO_DUE_TIME = "no readable due time: it is due at once"
    BEYOND_RETENTION = "due after the topic would have deleted it, so its due time is damaged: it is due at once"
    NO_KEY = "no key: the requested topic's owner will make a dead letter of it"
    NO_VALUE = "no value: the requested topic's owner will make a dead letter of it"
    NO_ATTEMPT = "no attempt number: the requested topic's owner will drop it if it knows the request"


def read_parked(message: Any, now_ms: int, longest_ms: int) -> tuple[Parked, list[Oddity]]:
    """Take a fetched record, and say what is odd about it.

    `longest_ms` is the topic's retention: a due time beyond it would hold up the whole partition for a record that
    the broker deletes first.
    """
    key, value = message.key(), message.value()
    headers: list[Header] = message.headers() or []
    odd: list[Oddity] = []
    due_ms = moment_ms(headers, DUE)
    if due_ms is None or due_ms > now_ms + longest_ms:
        odd.append(Oddity.NO_DUE_TIME if due_ms is None else Oddity.BEYOND_RETENTION)
        due_ms = now_ms
    if not key:
        odd.append(Oddity.NO_KEY)
    if value is None:
        odd.append(Oddity.NO_VALUE)
    size = len(key or b"") + len(value or b"")
    asks = False
    for name, content in headers:
        size += len(name) + len(content or b"")
        asks = asks or name == ATTEMPT
    if not asks:
        odd.append(Oddity.NO_ATTEMPT)
    return Parked(message.offset(), due_ms, key, value, headers, size), odd
