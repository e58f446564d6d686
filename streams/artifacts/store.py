"""Artifacts by content-addressed key: put once, checked whenever they are read, never overwritten by others.

The promises are kept here, the same for folders and buckets (`Objects`):

- What `get` gives has the checksum that was asked for. What `find` gives has the one that its writer left
  beside it, where the store keeps such a note.
- A key that holds sound bytes keeps them. Equal bytes are adopted, other ones raise ArtifactConflict.
- `put` may be repeated: after a lost answer, by the next owner, by two owners at once.
- Bad news is read twice: a byte that flipped on the way is neither a conflict nor corruption.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import sha256
from typing import TypeVar

from streams.artifacts.counts import Counter, Operation, StoreCounts
from streams.artifacts.deadline import Deadline
from streams.artifacts.errors import ArtifactConflict, ArtifactCorrupt, ArtifactMissing, StoreUnavailable
from streams.artifacts.objects import Objects, StoredObject

T = TypeVar("T")


class ArtifactStore:
    """Blocking, for any number of threads; a call takes at most `timeout` seconds (folders: as the disk likes)."""

    def __init__(self, objects: Objects, timeout: float) -> None:
        self._objects = objects
        self._timeout = timeout
        self._counter = Counter()

    @property
    def counts(self) -> StoreCounts:
        """What this store has done so far."""
        return self._counter.now()

    def put(self, key: str, artifact: bytes, checksum: str) -> str:
        """Store an artifact under its key if nothing sound is there; the `result_ref` of what is there now.

        An object whose bytes are not those that its writer noted is damaged, and is replaced if the note is
        this checksum.

        Args:
            key: of `processors.artifact_keys.artifact_path`.
            artifact: the bytes.
            checksum: their SHA-256 in hex.

        Raises:
            ArtifactConflict: other sound bytes are there; they stay.
            StoreUnavailable: it is not known to be stored; the same call may be made again.
            ValueError: the bytes do not have this checksum.
        """
        _refuse_wrong_checksum(key, artifact, checksum)
        return self._counted("put", lambda: self._put(key, artifact, checksum, self._deadline()))

    def get(self, key: str, checksum: str) -> bytes:
        """The artifact with this checksum.

        Raises:
            ArtifactMissing, ArtifactCorrupt: it is not to be had; render again, then `put` or `replace`.
            StoreUnavailable: the store did not say.
        """
        return self._counted("get", lambda: self._get(key, checksum, self._deadline()))

    def find(self, key: str) -> bytes | None:
        """The artifact under the key, to be adopted in place of a render; None if there is no sound one.

        Raises:
            StoreUnavailable: the store did not say.
        """
        return self._counted("find", lambda: self._find(key, self._deadline()))

    def replace(self, key: str, artifact: bytes, checksum: str) -> str:
        """Store an artifact in place of one that `get` found corrupt; the `result_ref`.

        Sound bytes are not replaced: equal ones are adopted, and others that were noted as such conflict.

        Raises:
            ArtifactConflict, StoreUnavailable, ValueError: as for `put`.
        """
        _refuse_wrong_checksum(key, artifact, checksum)
        return self._counted("replace", lambda: self._replace(key, artifact, checksum, self._deadline()))

    def key_of(self, result_ref: str) -> str | None:
        """The key that `put` made this reference of; None for a reference of another store."""
        root = self._objects.reference("")
        return result_ref.removeprefix(root) if result_ref.startswith(root) else None

    def _deadline(self) -> Deadline:
        return Deadline(self._timeout)

    def _counted(self, operation: Operation, work: Callable[[], tuple[str, T]]) -> T:
        begun = time.monotonic()
        try:
            outcome, value = work()
        except StoreUnavailable as exc:
            self._counter.add_failure(operation, exc.kind, time.monotonic() - begun)
            raise
        except (ArtifactConflict, ArtifactMissing, ArtifactCorrupt) as exc:
            self._counter.add(operation, exc.outcome, time.monotonic() - begun)
            raise
        self._counter.add(operation, outcome, time.monotonic() - begun)
        return value

    def _put(self, key: str, artifact: bytes, checksum: str, deadline: Deadline) -> tuple[str, str]:
        reference = self._objects.reference(key)
        if self._objects.create(key, artifact, checksum, deadline):
            return "ok", reference
        stored = self._objects.read(key, deadline)
        if stored is not None and _sha256(stored.content) != checksum:
            stored = self._objects.read(key, deadline)
        if stored is None:
            raise StoreUnavailable(f"{key}: the artifact store said that it is there, and then that it is not", "server")
        found = _sha256(stored.content)
        if found == checksum:
            return "adopted", reference
        if stored.recorded != checksum:
            raise ArtifactConflict(key, stored.recorded or found, checksum)
        self._exchange(key, artifact, checksum, stored, deadline)
        return "mended", reference

    def _get(self, key: str, checksum: str, deadline: Deadline) -> tuple[str, bytes]:
        found = ""
        for _ in range(2):
            stored = self._objects.read(key, deadline)
            if stored is None:
                raise ArtifactMissing(key)
            found = _sha256(stored.content)
            if found == checksum:
                return "ok", stored.content
        raise ArtifactCorrupt(key, found)

    def _find(self, key: str, deadline: Deadline) -> tuple[str, bytes | None]:
        for _ in range(2):
            stored = self._objects.read(key, deadline)
            if stored is None:
                return "missing", None
            if stored.recorded in {None, _sha256(stored.content)}:
                return "found", stored.content
        return "corrupt", None

    def _replace(self, key: str, artifact: bytes, checksum: str, deadline: Deadline) -> tuple[str, str]:
        reference = self._objects.reference(key)
        stored = self._objects.read(key, deadline)
        found = _sha256(stored.content) if stored else ""
        if found == checksum:
            return "adopted", reference
        if stored and stored.recorded == found:
            raise ArtifactConflict(key, found, checksum)
        self._exchange(key, artifact, checksum, stored, deadline)
        return "ok", reference

    def _exchange(self, key: str, artifact: bytes, checksum: str, stored: StoredObject | None, deadline: Deadline) -> None:
        if not self._objects.replace(key, artifact, checksum, stored, deadline):
            raise StoreUnavailable(f"{key}: another worker has changed the object meanwhile", "server")


def _refuse_wrong_checksum(key: str, artifact: bytes, checksum: str) -> None:
    if _sha256(artifact) != checksum:
        raise ValueError(f"{key}: the artifact does not have the checksum {checksum[:16]}…")


def _sha256(content: bytes) -> str:
    return sha256(content).hexdigest()
