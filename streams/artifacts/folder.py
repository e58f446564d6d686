"""Objects as files of a folder that all workers share.

The name of a file is made by a hard link to bytes that are on the disk already, so no name ever leads to half
an object, power cuts included, and the first writer wins (link(2): EEXIST). obstore's local store also links,
but never calls fsync: after a power cut a name could lead to an empty file, which is a conflict for ever.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from streams.artifacts.deadline import Deadline
from streams.artifacts.errors import StoreRefuses, StoreUnavailable
from streams.artifacts.objects import StoredObject

T = TypeVar("T")

UNFINISHED = ".unfinished"
"""Folder of files that have no name yet; on the same file system, as links ask."""
_CHECKSUM = "user.qrstream.sha256"
_NO_ATTRIBUTES = frozenset({errno.ENOTSUP, errno.EPERM, errno.ENODATA})
_ABANDONED_SECONDS = 86400.0
"""Age at which an unfinished file is that of a worker that died. Putting takes seconds; clocks of machines differ."""


class FolderObjects:
    """Objects below a folder that exists; keys are relative paths."""

    keeps_first = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unfinished = folder / UNFINISHED

    def open(self) -> None:
        """Show that files can be made, flushed and linked here, and remove what dead workers left unfinished.

        Raises:
            OSError: they can not.
        """
        self._unfinished.mkdir(exist_ok=True)
        draft = self._draft(b"", None)
        linked = draft.with_suffix(".linked")
        try:
            os.link(draft, linked)
        finally:
            draft.unlink()
        linked.unlink()
        for left in self._unfinished.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another worker that starts removes it too
                if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                    left.unlink()

    def reference(self, key: str) -> str:
        """`file:///folder/key` (RFC 8089)."""
        return f"{self._folder.as_uri().rstrip('/')}/{key}"

    def read(self, key: str, deadline: Deadline) -> StoredObject | None:
        """The file's bytes, and the checksum that was noted in an extended attribute of it."""
        return self._doing(key, deadline, lambda: self._read(self._folder / key))

    def create(self, key: str, content: bytes, checksum: str, deadline: Deadline) -> bool:
        """Write, flush, link, flush the folders."""
        return self._doing(key, deadline, lambda: self._create(self._folder / key, content, checksum))

    def replace(self, key: str, content: bytes, checksum: str, seen: StoredObject | None, deadline: Deadline) -> bool:
        """Rename over the damaged file. Without a condition: a file system has none, and equal keys mean equal bytes."""
        if seen is None:
            return self.create(key, content, checksum, deadline)
        return self._doing(key, deadline, lambda: self._replace(self._folder / key, content, checksum))

    def _doing(self, key: str, deadline: Deadline, work: Callable[[], T]) -> T:
        deadline.check(key)
        try:
            return work()
        except PermissionError as exc:
            raise StoreRefuses(f"{key}: {exc.strerror}: {exc.filename}", "refused") from exc
        except OSError as exc:
            # A full disk, a lost mount, a broken disk: all of them pass, or are repaired while the bytes wait.
            raise StoreUnavailable(f"{key}: {exc.strerror or exc}", "io") from exc

    def _read(self, path: Path) -> StoredObject | None:
        try:
            with path.open("rb") as file:
                return StoredObject(file.read(), _noted(file.fileno()))
        except FileNotFoundError:
            # The folder is gone (an unmounted share): that says nothing about what it holds.
            self._unfinished.stat()
            return None

    def _create(self, path: Path, content: bytes, checksum: str) -> bool:
        draft = self._draft(content, checksum)
        try:
            self._make_folders(path.parent)
            try:
                os.link(draft, path)
            except FileExistsError:
                created = False
            else:
                created = True
        finally:
            draft.unlink()
        # Also where another worker has linked it: it may die before it flushes.
        _flush(path.parent)
        return created

    def _replace(self, path: Path, content: bytes, checksum: str) -> bool:
        self._draft(content, checksum).replace(path)
        _flush(path.parent)
        return True

    def _draft(self, content: bytes, checksum: str | None) -> Path:
        """A file without a name of its own, with its bytes on the disk."""
        draft = self._unfinished / uuid.uuid4().hex
        try:
            with draft.open("xb") as file:
                file.write(content)
                file.flush()
                if checksum is not None:
                    _note(file.fileno(), checksum)
                os.fsync(file.fileno())
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        return draft

    def _make_folders(self, folder: Path) -> None:
        """Make what is missing below the store's folder, each flushed into the one above."""
        missing = []
        while folder != self._folder and not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            _flush(each.parent)


def _flush(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _note(handle: int, checksum: str) -> None:
    """Leave the checksum with the file, where system and file system have attributes; without it all but mending works."""
    if hasattr(os, "setxattr"):
        try:
            os.setxattr(handle, _CHECKSUM, checksum.encode())
        except OSError as exc:
            if exc.errno not in _NO_ATTRIBUTES:
                raise


def _noted(handle: int) -> str | None:
    if not hasattr(os, "getxattr"):
        return None
    try:
        return os.getxattr(handle, _CHECKSUM).decode("ascii", "replace")
    except OSError as exc:
        if exc.errno not in _NO_ATTRIBUTES:
            raise
        return None
