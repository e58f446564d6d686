"""A letter as JSON has it: everything, bytes as base64, so that nothing has to be decodable."""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

from streams.dead_letters.dispositions import State
from streams.dead_letters.received import ReceivedLetter

NUMBERS = frozenset({"generation", "attempts", "first-failure", "last-failure", "source-partition", "source-offset", "content-length"})
"""Facts that are decimal numbers."""


def facts_of(letter: ReceivedLetter, state: State) -> dict[str, Any]:
    """Which letter it is, and what is said about it; nothing of the original record."""
    said = {name.replace("-", "_"): letter.number(name) if name in NUMBERS else text for name, text in letter.facts.items()}
    return {
        "letter": letter.name, "state": state.name, "appended_at": letter.appended_at, **said,
        "topic": letter.topic, "partition": letter.partition, "offset": letter.offset,
    }  # fmt: skip


def original_of(letter: ReceivedLetter) -> dict[str, Any]:
    """Key and headers of the original record."""
    return {"key_base64": _text(letter.key), "headers": [[name, _text(content)] for name, content in letter.headers]}


def whole(letter: ReceivedLetter, state: State, found: bytes | None) -> dict[str, Any]:
    """Everything. `found` is the value that the letter had no room for, where its source still has it.

    `value_missing` tells a value that is nowhere any more from one that never was (null).
    """
    value = found if letter.value_left_out else letter.value
    return {
        **facts_of(letter, state), **original_of(letter), "value_base64": _text(value),
        "value_missing": letter.value_left_out and found is None,
    }  # fmt: skip


def plain_disposition(disposition: Any) -> dict[str, Any] | None:
    """A DlqDisposition; None for an open letter."""
    return None if disposition is None else dataclasses.asdict(disposition)


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()
