"""What a store has to be able to do with one object; `ArtifactStore` makes the promises out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from streams.artifacts.deadline import Deadline


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as it was read.

    Attributes:
        recorded: SHA-256 that its writer left beside the bytes; None where the store keeps no such note.
        version: what names this state of the object for a conditional write (an ETag); None where there is none.
    """

    content: bytes
    recorded: str | None = None
    version: str | None = None


class Objects(Protocol):
    """Objects by key, each call blocking, from any thread.

    Every method raises StoreUnavailable (or StoreRefuses) when it cannot say, and may have written all the same.
    """

    @property
    def keeps_first(self) -> bool:
        """Whether `create` leaves an object that is there as it is, atomically."""

    def reference(self, key: str) -> str:
        """The URI of the object: the `result_ref` of an event."""

    def read(self, key: str, deadline: Deadline) -> StoredObject | None:
        """The object; None if there is none."""

    def create(self, key: str, content: bytes, checksum: str, deadline: Deadline) -> bool:
        """Store bytes under a key that has none. False: there is an object, which stays.

        True is only said of bytes that the store is known to have received as they were sent.
        """

    def replace(self, key: str, content: bytes, checksum: str, seen: StoredObject | None, deadline: Deadline) -> bool:
        """Store bytes in place of the object that was seen; False: it is another by now, which stays."""
