"""What a store can say besides "here it is".

    RenderError
    ├── StoreUnavailable      store_unavailable: this call failed; the next may not
    │   └── StoreRefuses      as before, but someone has to repair a setting or a permission first
    └── ArtifactConflict      artifact_conflict: sound bytes of another content under the key
    ArtifactAbsent
    ├── ArtifactMissing       no object under the key
    └── ArtifactCorrupt       the object's bytes are not those that were put
    StoreUnreachable          at start: the store does not answer

An absent artifact is no outcome: its owner renders again.
"""

from __future__ import annotations

from processors.errors import RenderError
from streams.exit_codes import ExitCode


class StoreUnavailable(RenderError):
    """The store did not take or give the artifact in its time; transient, the stream's retries count.

    Attributes:
        kind: class of the failure for the counters: timeout, connection, server, damaged, io, injected, other.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__("store_unavailable", message)
        self.kind = kind


class StoreRefuses(StoreUnavailable):
    """The store answers and refuses: credentials, permissions, a bucket or folder that has gone.

    Transient all the same for the request: nothing is wrong with it, and a repaired store takes it.
    """


class ArtifactConflict(RenderError):
    """Other bytes, undamaged as far as can be told, are under this key; they were not touched."""

    outcome = "conflict"

    def __init__(self, key: str, stored: str, offered: str) -> None:
        super().__init__("artifact_conflict", f"{key} holds an artifact with SHA-256 {stored[:16]}…, not {offered[:16]}…; it was left as it is")
        self.key = key
        self.stored = stored
        self.offered = offered


class ArtifactAbsent(Exception):
    """The store answered, and has no right bytes to serve; render again, once."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"{key}: {why}")
        self.key = key


class ArtifactMissing(ArtifactAbsent):
    """There is no object under the key: put it again."""

    outcome = "missing"

    def __init__(self, key: str) -> None:
        super().__init__(key, "there is no such object")


class ArtifactCorrupt(ArtifactAbsent):
    """The bytes under the key do not have the checksum asked for: replace them with bytes that have it."""

    outcome = "corrupt"

    def __init__(self, key: str, found: str) -> None:
        super().__init__(key, f"its SHA-256 is {found[:16]}…")
        self.found = found


class StoreUnreachable(Exception):
    """The store does not answer at start; the message is one line."""

    exit_code = ExitCode.STORE
