"""`qrstream dlq` with faults that a test asks for: python -m tests.support.faulty_dlq TRACE [options] -- ARGUMENTS

As in tests.support.faulty_worker, functions are wrapped by name and a name that is gone ends the process. A step is
where a crash or pause happens: "read" with the dispositions read and the transaction not begun, "begun" with its
records on the broker and not committed, "committed" right after the commit.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.faulty_worker import Fault, wrap
from tests.support.process_ties import die_with_the_parent
from tests.support.trace import TraceWriter

STEPS = ("read", "begun", "committed")


def main() -> None:
    """Wrap, then run the command."""
    own, arguments = split(sys.argv[1:])
    options = _options(own)
    die_with_the_parent()
    step = options.crash_in or options.pause_in
    make_steps(Fault(TraceWriter(options.trace), step, options.nth, stop=options.pause_in is not None))
    for guard in options.without:
        REMOVALS[guard]()
    from streams.cli.main import main as command  # noqa: PLC0415 - after the wrapping

    command(arguments)


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Before and after the two hyphens."""
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", type=Path)
    parser.add_argument("--crash-in", choices=STEPS)
    parser.add_argument("--pause-in", choices=STEPS)
    parser.add_argument("--nth", type=int, default=1, help="which transaction it is")
    parser.add_argument("--without", choices=tuple(REMOVALS), action="append", default=[])
    return parser.parse_args(arguments)


def make_steps(fault: Fault) -> None:
    """Put the fault at each step."""
    producer = importlib.import_module("streams.ownership.transaction").TransactionalProducer

    def around_publish(original: Any, *args: Any) -> Any:
        fault.reached("read")
        result = original(*args)
        fault.reached("committed")
        return result

    def before_commit(original: Any, transactional: Any) -> Any:
        if fault.step == "begun":
            transactional._producer.flush()
        fault.reached("begun")
        return original(transactional)

    wrap(producer, "publish", around_publish)
    wrap(producer, "_commit", before_commit)


def without_fencing() -> None:
    """A transactional id that no other process has."""
    settling = importlib.import_module("streams.dead_letters.settling")
    wrap(settling, "transactional_id", lambda original, *args: f"{original(*args)}-{os.getpid()}")


def without_dispositions() -> None:
    """Nothing has ever been done with any letter."""
    settling = importlib.import_module("streams.dead_letters.settling")
    nothing = importlib.import_module("streams.dead_letters.reading").Span(0, 0)
    wrap(settling, "read_settled", lambda original, settings, partition, letters, _dispositions: original(settings, partition, letters, nothing))


REMOVALS: dict[str, Callable[[], None]] = {"fencing": without_fencing, "dispositions": without_dispositions}

if __name__ == "__main__":
    main()
