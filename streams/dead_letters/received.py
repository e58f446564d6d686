"""A dead letter as it was read back: the original record, and what letter.py put beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from streams.dead_letters.letter import PREFIX

OriginalHeaders = tuple[tuple[str, bytes | None], ...]
_FIRST = f"{PREFIX}reason"
"""letter.py begins its headers with it; what stands before the last one is the publisher's, whatever it is called."""
_NAME = re.compile(r"(?:(?P<topic>[a-zA-Z0-9._-]+)-)?(?P<partition>\d{1,9})-(?P<offset>\d{1,18})")


@dataclass(frozen=True)
class ReceivedLetter:
    """One record of the dead-letter topic.

    Attributes:
        appended_at: the record's time, milliseconds since the epoch.
        headers: those of the original record, in order.
        facts: ours by name without prefix; empty for a record that the stream did not write.
    """

    topic: str
    partition: int
    offset: int
    appended_at: int
    key: bytes | None
    value: bytes | None
    headers: OriginalHeaders
    facts: dict[str, str]

    @property
    def name(self) -> str:
        """`<topic>-<partition>-<offset>`: the key of its disposition."""
        return f"{self.topic}-{self.partition}-{self.offset}"

    @property
    def short_name(self) -> str:
        """`<partition>-<offset>`, which the command line takes too."""
        return f"{self.partition}-{self.offset}"

    @property
    def ours(self) -> bool:
        """Whether the stream wrote it."""
        return "reason" in self.facts

    @property
    def reason(self) -> str | None:
        """The error code."""
        return self.facts.get("reason")

    @property
    def tenant(self) -> str | None:
        """None where the bytes could not be decoded."""
        return self.facts.get("tenant")

    @cached_property
    def failed_at(self) -> int:
        """When it failed, by the worker's clock; the record's own time where that is not said."""
        failed = self.number("last-failure")
        return self.appended_at if failed is None else failed

    @property
    def value_left_out(self) -> bool:
        """Whether the dead-letter topic had no room for the value; it lies at its source then."""
        return self.value is None and "value-sha256" in self.facts

    def number(self, name: str) -> int | None:
        """A fact that is a decimal number; None where it is absent or none."""
        text = self.facts.get(name, "")
        return int(text) if text.isascii() and text.isdigit() else None


def received(message: Any) -> ReceivedLetter:
    """The letter in a consumed message (confluent_kafka.Message)."""
    headers: OriginalHeaders = tuple(message.headers() or ())
    begins = max((at for at, (name, _) in enumerate(headers) if name == _FIRST), default=len(headers))
    facts = {
        name.removeprefix(PREFIX): (content or b"").decode("utf-8", "backslashreplace")
        for name, content in headers[begins:] if name.startswith(PREFIX)
    }
    return ReceivedLetter(
        message.topic(), message.partition(), message.offset(), message.timestamp()[1], message.key(), message.value(), headers[:begins], facts
    )


def place_of(name: str, topic: str) -> tuple[int, int] | None:
    """Partition and offset that a letter's name says, long or short; None if it names no letter of `topic`."""
    said = _NAME.fullmatch(name)
    if said is None or said["topic"] not in (None, topic):
        return None
    return int(said["partition"]), int(said["offset"])
