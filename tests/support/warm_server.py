"""Start workers from a process that has imported everything already: python -m tests.support.warm_server

A worker spends most of its start on imports (10 s of them on a slow machine), and a run of the tests starts a
hundred. This process imports what workers import, has no thread, reads no setting, and forks for each order: one JSON
object a line on stdin {"module", "arguments", "environment", "folder", "log"}. It answers on stdout: {"pid"} for
each order, in order, and {"pid", "ended"} (as subprocess counts return codes) whenever one ends. Closing stdin ends it.
Starts of a real program from nothing have tests of their own (test_cli_*, test_worker_start.py).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import sys
from pathlib import Path
from typing import Any

from tests.support.process_ties import die_with_the_parent

# Makes the app from the settings, so only a worker may import it.
MAKES_THE_APP = "streams.faust_app"


def main() -> None:
    """Import, then fork on demand."""
    die_with_the_parent()
    import_everything()
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a process with threads can't be forked safely"
    gc.collect()
    gc.freeze()  # what is shared stays shared
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    order = next_order(woken)
    os.close(woken)
    os.close(wake)
    if order is not None:
        run(order)


def next_order(woken: int) -> dict[str, Any] | None:
    """Fork for every order; the order in the process forked for it, None in the server once stdin is closed."""
    unread = b""
    with selectors.DefaultSelector() as ready:
        ready.register(0, selectors.EVENT_READ)
        ready.register(woken, selectors.EVENT_READ)
        while True:
            files = {key.fd for key, _ in ready.select()}
            if woken in files:
                os.read(woken, 4096)
            tell_ended()
            if 0 not in files:
                continue
            read = os.read(0, 1 << 16)
            if not read:
                return None
            *lines, unread = (unread + read).split(b"\n")
            for line in lines:
                pid = os.fork()
                if pid == 0:
                    order: dict[str, Any] = json.loads(line)
                    return order
                answer({"pid": pid})


def import_everything() -> None:
    """What a worker imports, but for the app itself."""
    for package in ("schemas", "processors", "streams"):
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not found.name.startswith((MAKES_THE_APP, "streams.cli", "streams.bench")) and not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    for name in ("faust", "faust.transport.drivers.aiokafka", "aiokafka"):
        importlib.import_module(name)


def tell_ended() -> None:
    """Answer for every worker that has ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            answer({"pid": pid, "ended": os.waitstatus_to_exitcode(status)})


def answer(facts: dict[str, int]) -> None:
    """One line."""
    os.write(1, json.dumps(facts).encode() + b"\n")


def run(order: dict[str, Any]) -> None:
    """Become the program, and end as it does: with its exit code, its threads joined, its traceback in the log."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = [order["module"], *order["arguments"]]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
