"""`qrstream` as a user's shell runs it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "streams.cli.main")
PATIENCE_S = 240.0
"""A command takes seconds; on a machine whose cores are taken by others it has taken a minute."""


@dataclass(frozen=True)
class CommandLine:
    """Runs commands with the settings of one stream."""

    settings: Mapping[str, str]

    @property
    def environment(self) -> dict[str, str]:
        """The shell's, with no QR_* but those of the stream."""
        return {**{name: value for name, value in os.environ.items() if not name.startswith("QR_")}, **self.settings}

    def run(self, *arguments: str, stdin: str | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run to its end."""
        return subprocess.run(
            [*COMMAND, *arguments], cwd=PROJECT, env={**self.environment, **settings}, input=stdin,
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )

    def start(self, *arguments: str, stdout: Any = subprocess.PIPE) -> subprocess.Popen[str]:
        """Start, for those that stay."""
        return subprocess.Popen([*COMMAND, *arguments], cwd=PROJECT, env=self.environment, stdout=stdout, stderr=subprocess.STDOUT, text=True)


def json_lines(text: str) -> list[dict[str, Any]]:
    """Each line as JSON."""
    return [json.loads(line) for line in text.splitlines()]
