"""Run the forwarder: check what it needs, forward until told to stop, leave with a code that says why."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType

import structlog

from streams.delay.forwarder import Forwarder, ForwarderRefused
from streams.delay.open_transactions import OpenTransactionAlarm
from streams.exit_codes import ExitCode
from streams.instance import instance_id
from streams.logs import configure_logs
from streams.ownership.errors import OwnershipLost
from streams.process_end import end_process, end_process_after
from streams.settings import Settings
from streams.start_checks import ending_the_process, lock_and_check
from streams.topic_reader import TopicMissing

log = structlog.get_logger("streams.delay")

STOP_SECONDS = 10.0
"""A commit takes milliseconds; past this the process leaves as if killed, which is safe."""


def run_delay(settings: Settings) -> None:
    """Forward until SIGTERM or SIGINT.

    Raises:
        SystemExit: with an `ExitCode`, after one clear line.
    """
    configure_logs(settings)
    # Of the forwarder alone, in the data folder that it may share with a worker: it keeps the instance id.
    folder = Path(settings.data_dir) / "delay"
    with ending_the_process():
        _lock = lock_and_check(settings, folder)
        instance = instance_id(settings.model_copy(update={"data_dir": folder}))
        stopping = _stop_on_signals()
        forwarder = Forwarder(settings, instance, stopping)
    log.info("delay_starts", instance=instance)
    watch = OpenTransactionAlarm(settings)
    watching = threading.Thread(target=watch.look_until, args=(stopping,), name="open-transactions", daemon=True)
    watching.start()
    try:
        forwarder.run()
        forwarder.close()
    except (OwnershipLost, TopicMissing, ForwarderRefused) as exc:
        end_process(exc.exit_code, str(exc))
    except Exception as exc:  # noqa: BLE001  # whatever it is, the offsets have not moved
        end_process(ExitCode.CRASHED, f"{type(exc).__name__}: {exc}", exc_info=exc)


def _stop_on_signals() -> threading.Event:
    stopping = threading.Event()

    def stop(number: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            return
        log.info("delay_stops", signal=signal.Signals(number).name)
        stopping.set()
        end_process_after(STOP_SECONDS, "forwarder")

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopping
