"""Keep the broker no longer than the process that started it.

A program of its own, run as `python supervisor.py GRACE_SECONDS COMMAND...`: it starts the command, prints its pid on
one line, and stops it (SIGTERM, after the grace SIGKILL) when its standard input ends. The starter holds the other
end of that pipe, so the input ends on a wish to stop and on the starter's death alike, kill -9 included. A forked
child of the starter may hold the pipe open beyond its death, so a change of parent stops the broker too. Were this
program itself killed with -9, Linux sends the broker SIGKILL (PR_SET_PDEATHSIG): set here and not by the starter,
since that signal comes at the death of the starting *thread*, and this program has only one (prctl(2)).

Only the standard library, and nothing of the project: it starts in some 20 ms and holds 10 MB.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PARENT_CHECK_SECONDS = 0.5


def main(arguments: list[str]) -> int:
    """Run the command until it ends or this program's input does; returns the command's exit code."""
    grace_seconds, command = float(arguments[0]), arguments[1:]
    starter = os.getppid()
    signals, signals_write = os.pipe()
    os.set_blocking(signals_write, False)
    signal.set_wakeup_fd(signals_write)
    for wanted in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(wanted, lambda *_: None)
    # PLW1509, S603: one thread, so the hook between fork and exec is safe; the command is the launcher's own.
    broker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2, preexec_fn=_dies_with_us())  # noqa: S603, PLW1509
    os.write(1, f"{broker.pid}\n".encode())
    os.close(1)
    while broker.poll() is None:
        ready, _, _ = select.select([0, signals], [], [], _PARENT_CHECK_SECONDS)
        told = signals in ready and set(os.read(signals, 64)) - {signal.SIGCHLD}
        if 0 in ready or told or os.getppid() != starter:
            return _stop(broker, grace_seconds)
    return broker.returncode


def _stop(broker: subprocess.Popen[bytes], grace_seconds: float) -> int:
    broker.terminate()
    try:
        return broker.wait(grace_seconds)
    except subprocess.TimeoutExpired:
        broker.kill()
        return broker.wait()


def _dies_with_us() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # noqa: PLC0415 - some builds of Python lack it
    except ImportError:
        return None
    libc, us = ctypes.CDLL(None), os.getpid()

    def before_exec() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != us:
            os._exit(1)

    return before_exec


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
