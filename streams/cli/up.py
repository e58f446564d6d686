"""``qrstream up FILE``: a broker, the topics, a worker, a forwarder and a file's requests, at one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """\b
Examples:
  qrstream up examples/requests.jsonl            stays up until Ctrl-C
  qrstream up examples/requests.jsonl --once     ends by itself; the last line is JSON
  QR_BROKER=127.0.0.1:9092 qrstream up requests.jsonl
  qrstream up                                    broker, worker and delay forwarder only

\b
Without QR_BROKER a Kafka broker is started on this machine. Records, the worker's state, logs and
artifacts are kept in QR_DATA_DIR (.qrstream); everything that was started is stopped at the end.
The stream answers a request id once. So that the same file can be run again, each run publishes
under its own ids: those of the file with a mark behind them, such as ~k3f9xw.

\b
--once prints {"requests", "completed", "failed", "rendered", "from_cache", "duplicates", "seconds"}
as its last line. requests counts every line; failed counts failed events and lines that could not
be published; duplicates are repeats of a request id, which the stream drops:
completed + failed = requests - duplicates.

\b
Exit codes: 0 every request got its outcome, 1 some did not, 2 no such file, 64 wrong settings,
65 no broker, 66 topics do not fit, 67 data folder; others are the worker's (`qrstream --help`).
"""


def up(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Requests as JSON Lines; - is standard input.", show_default=False)] = None,
    once: Annotated[bool, typer.Option("--once", help="End when every request has its outcome.")] = False,
) -> None:
    """Start broker, topics, worker and delay forwarder, and publish FILE."""
    from streams.cli.failure import CommandFailed
    from streams.cli.up_run import UpRun
    from streams.exit_codes import ExitCode
    from streams.settings import load_settings

    if once and file is None:
        raise CommandFailed(ExitCode.USAGE, "--once needs a FILE of requests; `qrstream up --help` has examples")
    raise typer.Exit(UpRun(load_settings(), file, once=once).run())
