"""A worker, or another process of the stream, as a child: started, watched, started again, stopped; and never longer there than its parent."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from streams.exit_codes import RESTARTABLE, ExitCode
from streams.local_broker import supervisor
from streams.settings import environment_name

GRACE_SECONDS = 35.0
"""A worker gives up stopping cleanly after 30 s by itself; past this it is killed, which is safe."""
_SIGNALLED = 128
_EXIT_CODES = {int(code): code for code in ExitCode}
_REASON = re.compile(r"""reason["']?[=:]\s*(?P<quote>['"])(?P<text>.*?)(?<!\\)(?P=quote)""")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a worker ended.

    Attributes:
        status: exit code, or the negative number of the signal that ended it.
        reason: the one line that it left in its log, if it did.
    """

    status: int
    reason: str | None

    @property
    def restartable(self) -> bool:
        """Whether the same command, started again, goes on where the committed position is."""
        return self.status < 0 or self.status in RESTARTABLE

    @property
    def exit_code(self) -> ExitCode:
        """What a command ends with that cannot go on without this worker."""
        return _EXIT_CODES.get(self.status, ExitCode.CRASHED) or ExitCode.CRASHED

    def __str__(self) -> str:
        """`code 66 (…)` or `signal SIGKILL`, with the reason."""
        if self.status < 0:
            return f"signal {signal.Signals(-self.status).name}"
        known = _EXIT_CODES.get(self.status)
        return f"code {self.status} ({self.reason or (known.meaning if known is not None else 'unknown code')})"


class WorkerProcess:
    """`qrstream worker`, or another command that stays, under the supervisor of streams/local_broker: its end follows from ours, kill -9 included.

    Attributes:
        command: of `qrstream`; what a screen calls it.
        pid: of the worker itself, for those who look or kill.
        log: file that takes what it prints.
    """

    def __init__(self, *, broker: str, data_dir: Path, log: Path, environment: dict[str, str] | None = None, command: str = "worker") -> None:
        """Nothing is started yet. Settings come from this process's environment, except for the given ones."""
        self.command = command
        self.log = log
        self.pid = 0
        self._environment = {
            **os.environ, environment_name("broker"): broker, environment_name("data_dir"): str(data_dir), **(environment or {}),
        }
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._log_begin = 0

    def start(self) -> None:
        """Start it; returns at once, before it owns anything."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        command = [
            *(sys.executable, "-I", "-S", supervisor.__file__, str(GRACE_SECONDS)),
            *(sys.executable, "-m", "streams.cli.main", self.command),
        ]
        with self.log.open("ab") as log:
            self._log_begin = log.tell()
            # S603: every word is ours. A session of its own keeps the terminal's Ctrl-C from it: whoever
            # started it stops it, in order.
            self._supervisor = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=self._environment, start_new_session=True
            )
        assert self._supervisor.stdout is not None
        with self._supervisor.stdout as started:
            self.pid = int(started.readline() or 0)

    def ended(self) -> Ending | None:
        """How it ended, or None while it runs."""
        assert self._supervisor is not None
        status = self._supervisor.poll()
        if status is None:
            return None
        # The supervisor passes the worker's status on; as an exit code a signal n is 256 - n.
        return Ending(status - 256 if status > _SIGNALLED else status, self._reason())

    def kill(self) -> None:
        """End it as kill -9 does, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        assert self._supervisor is not None
        self._supervisor.wait()

    def stop(self) -> None:
        """SIGTERM, and after the grace SIGKILL; returns when it is gone."""
        if self._supervisor is None:
            return
        if self._supervisor.stdin is not None and not self._supervisor.stdin.closed:
            self._supervisor.stdin.close()
        self._supervisor.wait()

    def wait_for_line(self, text: str, seconds: float) -> bool:
        """Whether its log says `text` since its start, within `seconds`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.ended() is None:
            if text in self.said():
                return True
            time.sleep(0.02)
        return text in self.said()

    def said(self) -> str:
        """What it has printed since its last start."""
        with self.log.open("rb") as log:
            log.seek(self._log_begin)
            return log.read().decode("utf-8", "replace")

    def _reason(self) -> str | None:
        found = [match["text"] for line in self.said().splitlines() if "process_ends" in line and (match := _REASON.search(line))]
        return found[-1] if found else None
