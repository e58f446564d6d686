"""Artifacts as files, each content hash once."""

from __future__ import annotations

from pathlib import Path

from schemas.events import RenderCompleted
from streams.settings import Settings
from streams.stored_results import read_results


class ArtifactFolder:
    """`<folder>/<content hash>.<format>` for each completed request."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written: set[str] = set()
        self._by_reference: dict[str, str] = {}

    @property
    def count(self) -> int:
        """Files that this run has written or found right."""
        return len(self._written)

    def keep(self, completed: RenderCompleted) -> None:
        """Write the artifact of an event, unless its hash has been seen; references are for `fetch`."""
        if completed.content_hash in self._written:
            return
        if completed.artifact is None:
            self._by_reference[completed.content_hash] = completed.format
        else:
            self._write(completed.content_hash, completed.format, completed.artifact)

    def fetch(self, settings: Settings) -> None:
        """Bring what was delivered by reference only from where the stream keeps it."""
        missing = {name: extension for name, extension in self._by_reference.items() if name not in self._written}
        for name, stored in read_results(settings, missing).items():
            if stored.artifact is not None:
                self._write(name, missing[name], stored.artifact)

    def _write(self, content_hash: str, extension: str, artifact: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{content_hash}.{extension}"
        # The bytes of a profile that is not frozen may change between releases: a file of an older one is replaced.
        if not file.is_file() or file.read_bytes() != artifact:
            unfinished = file.with_suffix(".unfinished")
            unfinished.write_bytes(artifact)
            unfinished.replace(file)
        self._written.add(content_hash)
