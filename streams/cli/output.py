"""Plain values of events and rows, for JSON on stdout."""

from __future__ import annotations

import base64
import dataclasses
import json
import sys
from typing import Any


def print_json(value: Any) -> None:
    """One JSON value on one line of stdout, at once, ASCII only: it survives every terminal and locale."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def plain(record: Any) -> dict[str, Any]:
    """A record as JSON has it; bytes under their name with `_base64`, as requests have `content_base64`."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, bytes):
            values[f"{field.name}_base64"] = base64.b64encode(value).decode()
        elif dataclasses.is_dataclass(value):
            values[field.name] = plain(value)
        else:
            values[field.name] = value
    return values
