"""A process that tests.support.warm_server has forked, used like a subprocess.Popen."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# Threads of a linear algebra library, which it starts on import, would make the server unfit to fork.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
ANSWER_S = 120.0


class WarmProcess:
    """One forked process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def ended(self, returncode: int) -> None:
        """The server has reaped it."""
        self.returncode = returncode
        self._ended.set()

    def poll(self) -> int | None:
        """The return code, None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The return code, once it has ended."""
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)


class WarmServer:
    """The server's process and what it has told of its children."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm_server"], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD},
        )
        self._lock = threading.Lock()
        self._started: queue.SimpleQueue[WarmProcess] = queue.SimpleQueue()
        self._running: dict[int, WarmProcess] = {}
        threading.Thread(target=self._listen, name="warm-server", daemon=True).start()

    def start(self, module: str, *arguments: str, environment: Mapping[str, str], log: Path) -> WarmProcess:
        """Run a module as a program in the project's folder, its output in `log`."""
        order = {"module": module, "arguments": arguments, "environment": {**environment, **ONE_THREAD}, "folder": str(PROJECT), "log": str(log)}
        with self._lock:
            assert self._server.stdin is not None
            self._server.stdin.write(json.dumps(order).encode() + b"\n")
            self._server.stdin.flush()
            try:
                return self._started.get(timeout=ANSWER_S)
            except queue.Empty:
                raise AssertionError(f"the warm server does not answer; it has ended with {self._server.poll()}") from None

    def close(self) -> None:
        """End the server; what it has started has been ended by who wanted it."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(30)

    def _listen(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            facts = json.loads(line)
            if "ended" in facts:
                self._running.pop(facts["pid"]).ended(facts["ended"])
            else:
                process = self._running[facts["pid"]] = WarmProcess(facts["pid"])
                self._started.put(process)


@cache
def warm_server() -> WarmServer:
    """The server of this run, started when the first process is asked for."""
    server = WarmServer()
    atexit.register(server.close)
    return server
