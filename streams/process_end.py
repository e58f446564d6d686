"""End this process at once, with one line and an exit code that a supervisor understands."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

import structlog

from streams.exit_codes import ExitCode

log = structlog.get_logger(__name__)

_before: list[Callable[[ExitCode], None]] = []


def before_end(note: Callable[[ExitCode], None]) -> None:
    """Have something noted before `end_process` leaves, which tells with what code. It must not wait."""
    _before.append(note)


def end_process_after(seconds: float, who: str) -> None:
    """Leave as if killed, which is safe, if `who` has not stopped by then."""
    deadline = threading.Timer(seconds, end_process, (ExitCode.CRASHED, f"the {who} did not stop within {seconds:.0f} s"))
    deadline.daemon = True
    deadline.start()


def end_process(code: ExitCode, reason: str, *, exc_info: BaseException | None = None) -> NoReturn:
    """Log one line and leave without unwinding.

    `os._exit`, because what ends the process is that its view of a partition is not the truth any more:
    nothing that a shutdown would still flush or commit may be.
    """
    log.critical("process_ends", exit_code=int(code), exit_name=code.name, reason=reason, exc_info=exc_info)
    for note in _before:
        note(code)
    for handler in logging.getLogger().handlers:
        handler.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
