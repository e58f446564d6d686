"""The folder of a local broker: who uses it, its Kafka storage, and what its logs say."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from streams.local_broker.errors import LocalBrokerError
from streams.local_broker.jvm import Jvm
from streams.local_broker.ports import LOOPBACK
from streams.local_broker.server_properties import as_text, server_properties

# How long a start waits for a folder that another broker is about to leave.
TAKEN_SECONDS = 5.0
_POLL_SECONDS = 0.05


@contextlib.contextmanager
def owned(folder: Path) -> Iterator[int]:
    """The folder made, and an open lock on it that a started supervisor inherits.

    Raises LocalBrokerError when the folder cannot be used, or a broker runs in it.
    """
    try:
        logs_of(folder).mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        msg = f"cannot use {folder} for the local broker's records: {error.strerror}"
        raise LocalBrokerError(msg) from error
    try:
        if not _locked(lock):
            msg = f"a local broker already runs in {folder} on {LOOPBACK}:{last_port(folder)}: use it, or stop it first"
            raise LocalBrokerError(msg)
        yield lock
    finally:
        os.close(lock)


def logs_of(folder: Path) -> Path:
    """The folder of broker.log (the broker's own) and console.log (what the Java program printed)."""
    return folder / "logs"


def format_once(folder: Path, jvm: Jvm) -> str:
    """The cluster id of the folder, given to it by Kafka's storage tool at its first use."""
    records, settings = folder / "records", folder / "server.properties"
    meta = records / "meta.properties"
    # The tool writes meta.properties last, so a folder that has it is complete.
    if not meta.is_file():
        # The tool wants a whole configuration; the ports of the real one are chosen at each start.
        settings.write_text(as_text(server_properties(records, port=1, controller_port=2)), encoding="utf-8")
        # Kafka's own form of a cluster id: 16 bytes, base64 for URLs, no padding.
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        command = jvm.command(
            "kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", f"--config={settings}", logs=logs_of(folder)
        )
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - every word is ours
        if done.returncode != 0:
            reason = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
            msg = f"cannot prepare {folder} for the local broker: {reason}"
            raise LocalBrokerError(msg)
    entries = (line.partition("=") for line in meta.read_text(encoding="utf-8").splitlines())
    return next(value for key, _, value in entries if key == "cluster.id")


def last_port(folder: Path) -> int | None:
    """The port of the folder's broker now or at its last run."""
    try:
        return int((folder / "port").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def remember_port(folder: Path, port: int) -> None:
    """Keep the port for the next start, and for whoever is told that the folder is taken."""
    (folder / "port").write_text(str(port), encoding="utf-8")


def lost_port(folder: Path) -> bool:
    """Whether the last start failed because a port was taken."""
    return any("Address already in use" in line for line in _log_lines(folder))


def last_error(folder: Path) -> str:
    """The last line of the logs that speaks of an error."""
    errors = [line for line in _log_lines(folder) if " ERROR " in line or " FATAL " in line or "Exception" in line]
    return errors[-1].strip() if errors else "no reason given"


def forget_logs(folder: Path) -> None:
    """Begin a start with an empty broker.log, so that what is read there is of this start; one older is kept."""
    log = logs_of(folder) / "broker.log"
    with contextlib.suppress(FileNotFoundError):
        log.replace(log.with_name("broker.1.log"))


def _log_lines(folder: Path) -> list[str]:
    lines: list[str] = []
    for name in ("console.log", "broker.log"):
        with contextlib.suppress(FileNotFoundError):
            lines += (logs_of(folder) / name).read_text(encoding="utf-8", errors="replace").splitlines()
    return lines


def _locked(lock: int) -> bool:
    """Take the lock, waiting a little: a broker whose starter was killed a moment ago is still stopping."""
    deadline = time.monotonic() + TAKEN_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True
