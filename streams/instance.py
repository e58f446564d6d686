"""What makes a worker the same one after a restart: its data folder, and the member name kept in it."""

from __future__ import annotations

import fcntl
import os
import socket
import uuid
from pathlib import Path

from streams.settings import Settings


class DataFolderError(Exception):
    """The data folder can't be used; the message is one line that says why and what to do."""


def instance_id(settings: Settings) -> str:
    """The static member name (KIP-345): given, or made once and kept in the data folder.

    With it a worker that is killed and started again gets its partitions back at once, without waiting
    for the session timeout of its former self.
    """
    if settings.instance_id:
        return settings.instance_id
    file = Path(settings.data_dir) / "instance-id"
    if not file.exists() or not file.read_text().strip():
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = file.with_suffix(".new")  # a kill between making and writing must not leave an empty name
        whole.write_text(f"{socket.gethostname()}-{uuid.uuid4().hex[:12]}")
        whole.replace(file)
    return file.read_text().strip()


def lock_data_folder(folder: Path) -> int:
    """Hold the folder for this process until it ends; the descriptor of the lock.

    Raises:
        DataFolderError: it can't be written, or another process holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / "worker.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as exc:
        raise DataFolderError(f"data folder {folder} cannot be written: {exc.strerror}; set QR_DATA_DIR to a folder that can") from exc
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        os.close(descriptor)
        raise DataFolderError(f"data folder {folder} is used by another process; give each its own QR_DATA_DIR") from exc
    return descriptor
