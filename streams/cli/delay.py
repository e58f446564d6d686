"""``qrstream delay``: bring parked requests back when they are due."""

from __future__ import annotations

from streams.exit_codes import RESTARTABLE

EPILOG = f"""\b
Examples:
  QR_BROKER=127.0.0.1:9092 qrstream delay
  QR_BROKER=kafka:9092 QR_DATA_DIR=/var/lib/qrstream QR_LOG=json:info QR_MODE=production qrstream delay

\b
A request that failed for a passing reason waits on a retry topic (QR_RETRY_DELAYS). This process sends it
back when it is due, exactly once. One is enough; more of one QR_APP_ID share the partitions and take over
from each other. Its data folder keeps its instance id only, in a folder of its own inside QR_DATA_DIR.

\b
A supervisor should start it again after codes {min(RESTARTABLE):d} to {max(RESTARTABLE):d} and when a signal ended it, and
must not after the others: they do not pass by themselves. `qrstream --help` lists all codes.
"""


def delay() -> None:
    """Run one forwarder of parked requests until SIGTERM or Ctrl-C.

    Settings come from the environment or a file; `qrstream config` shows them.
    """
    from streams.delay.run import run_delay
    from streams.settings import process_settings

    run_delay(process_settings())
