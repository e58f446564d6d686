"""``qrstream worker``: own partitions, render, answer."""

from __future__ import annotations

from streams.exit_codes import RESTARTABLE

EPILOG = f"""\b
Examples:
  QR_BROKER=127.0.0.1:9092 qrstream worker
  QR_BROKER=kafka:9092 QR_DATA_DIR=/var/lib/qrstream QR_LOG=json:info QR_MODE=production qrstream worker

\b
Workers of one QR_APP_ID share the partitions between them; each needs a data folder of its own.
A supervisor should start it again after codes {min(RESTARTABLE):d} to {max(RESTARTABLE):d} and when a signal ended it, and
must not after the others: they do not pass by themselves. `qrstream --help` lists all codes.
"""


def worker() -> None:
    """Run one worker until SIGTERM or Ctrl-C.

    Settings come from the environment or a file; `qrstream config` shows them.
    """
    from streams.faust_app.worker import run_worker
    from streams.settings import process_settings

    run_worker(process_settings())
