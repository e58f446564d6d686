"""What worker processes did, one JSON line each in a file that several processes append to."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class TraceWriter:
    """Appends lines; each is one write to a file opened O_APPEND, so lines of several processes never mix."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o644)

    def write(self, event: str, **facts: Any) -> None:
        """Add one line."""
        os.write(self._file, json.dumps({"event": event, "pid": os.getpid(), **facts}).encode() + b"\n")


@dataclass(frozen=True, slots=True)
class Trace:
    """Reads the lines of all processes so far."""

    path: Path

    def events(self, event: str, *, pid: int | None = None) -> list[dict[str, Any]]:
        """The lines of one kind, of one process if asked, in the order they were written."""
        if not self.path.exists():
            return []
        wanted = f'{{"event": "{event}", '  # thousands of lines are looked through; only these are parsed
        lines = (json.loads(line) for line in self.path.read_text().splitlines() if line.startswith(wanted))
        return [line for line in lines if pid in (None, line["pid"])]

    def offsets(self, event: str, *, pid: int | None = None) -> set[tuple[int, int]]:
        """(partition, offset) of all lines of one kind."""
        return {(line["partition"], offset) for line in self.events(event, pid=pid) for offset in line["offsets"]}
