"""How an error ends the worker, wherever Faust runs our code: with its exit code, never by Faust's own crash.

An exception that reaches Faust acknowledges the event (agents), or ends the process with code 1 and without a
word (timers, recovery).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import RegistryError
from streams.exit_codes import ExitCode
from streams.ownership.errors import Abandoned, OwnershipLost
from streams.process_end import end_process


@contextmanager
def ending_with_exit_code() -> Iterator[None]:
    """End the process for any error but Abandoned, which is the caller's to handle."""
    try:
        yield
    except Abandoned:
        raise
    except OwnershipLost as exc:
        end_process(exc.exit_code, str(exc))
    except RegistryError as exc:
        end_process(ExitCode.BROKER_LOST, str(exc))
    except Exception as exc:  # noqa: BLE001  # whatever it is, the position has not moved
        end_process(ExitCode.CRASHED, f"{type(exc).__name__}: {exc}", exc_info=exc)
