"""The broker's clock, as records tell it: no worker or publisher with a wrong clock can move it."""

from __future__ import annotations

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, Message


def append_time_ms(message: Message) -> int:
    """When the broker appended a record, milliseconds since the epoch; 0 where its topic keeps the publisher's time."""
    kind, instant = message.timestamp()
    return instant if kind == TIMESTAMP_LOG_APPEND_TIME else 0
