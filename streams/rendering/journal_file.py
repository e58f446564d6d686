"""The journal of one partition on disk: two slots of a page, written in turn, of which the newest whole one counts.

A process that is killed in the middle of a write leaves a slot whose checksum is wrong, and the note before it whole
in the other. The file is mapped: a note is a copy into the page cache, without a system call, and what is there
outlives the process (mmap(2), MAP_SHARED). It is not synced: a power loss may lose notes, and then a record's tries
are counted anew. Syncing would cost a disk's write for each micro-batch, for a machine that was not killed by a record.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from struct import Struct, pack, unpack_from
from typing import Final
from zlib import crc32

_SLOT: Final = 4_096
_SIZE: Final = 2 * _SLOT
_MAGIC: Final = b"QRJ1"
_HEAD: Final = Struct(">4sIHQ")  # magic, checksum of the rest, length of the body, sequence
_COUNTS: Final = Struct(">BHH")
MOST_RANGES: Final = 200
MOST_SUSPECTS: Final = 40
"""Both fit into one slot: 18 + 5 + 200 x 16 + 40 x 17 bytes."""

Range = tuple[int, int]
"""First and last offset."""
Suspects = tuple[int, int, int]
"""First and last offset, and how many deaths each of them has seen."""


class Noted(IntEnum):
    """What a note says about the process that wrote it."""

    CLEAN = 0
    """It stopped in order."""
    IDLE = 1
    """It handled nothing when it ended, if it has."""
    IN_FLIGHT = 2
    """It was handling offsets."""
    UNREADABLE = 3
    """The note before could not be read, and nothing has been handled since."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is known about one partition. in_flight and suspects: disjoint, ascending."""

    noted: Noted
    in_flight: tuple[Range, ...] = ()
    suspects: tuple[Suspects, ...] = ()

    def encoded(self) -> bytes:
        """The body of a slot."""
        flat = [offset for both in self.in_flight for offset in both]
        return b"".join((
            _COUNTS.pack(self.noted, len(self.in_flight), len(self.suspects)),
            pack(f">{len(flat)}Q", *flat),
            *(pack(">QQB", first, last, min(deaths, 255)) for first, last, deaths in self.suspects),
        ))

    @classmethod
    def decoded(cls, body: bytes) -> Note:
        """The note of a body whose checksum is right."""
        noted, ranges, suspects = _COUNTS.unpack_from(body)
        flat = unpack_from(f">{2 * ranges}Q", body, _COUNTS.size)
        start = _COUNTS.size + 16 * ranges
        return cls(
            Noted(noted),
            tuple(zip(flat[::2], flat[1::2], strict=True)),
            tuple(unpack_from(">QQB", body, start + 17 * number) for number in range(suspects)),
        )


class JournalFile:
    """The notes of one partition.

    Attributes:
        found: the newest whole note at opening; None if there was no file.
    """

    def __init__(self, path: Path) -> None:
        """Open it, or make it. A file that holds no whole note is made anew, and `found` says UNREADABLE.

        Raises:
            OSError: the folder cannot be written.
        """
        self.found: Note | None = None
        self._sequence = 1
        if not path.exists():
            _make(path, Note(Noted.IDLE))
        elif (newest := _newest(path.read_bytes())) is not None:
            self._sequence, self.found = newest
        else:
            self.found = Note(Noted.UNREADABLE)
            _make(path, self.found)
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)

    def write(self, note: Note) -> None:
        """Put a note in the place of the one before the last."""
        self._sequence += 1
        slot = _slot(note, self._sequence)
        start = self._sequence % 2 * _SLOT
        self._map[start:start + len(slot)] = slot

    def close(self) -> None:
        """Unmap it."""
        self._map.close()


def _slot(note: Note, sequence: int) -> bytes:
    body = note.encoded()
    checked = _HEAD.pack(_MAGIC, 0, len(body), sequence)[8:] + body
    return _MAGIC + pack(">I", crc32(checked)) + checked


def _make(path: Path, note: Note) -> None:
    """A whole file at once, written out and not sparse: a full disk is an OSError here, and not a SIGBUS later."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".new")
    whole.write_bytes(bytes(_SLOT) + _slot(note, 1).ljust(_SLOT, b"\0"))
    whole.replace(path)


def _newest(content: bytes) -> tuple[int, Note] | None:
    """Sequence and note of the newest whole slot."""
    if len(content) != _SIZE:
        return None
    return max((whole for start in (0, _SLOT) if (whole := _whole(content[start:start + _SLOT])) is not None), key=lambda both: both[0], default=None)


def _whole(slot: bytes) -> tuple[int, Note] | None:
    magic, checksum, length, sequence = _HEAD.unpack_from(slot)
    end = _HEAD.size + length
    if magic != _MAGIC or end > _SLOT or crc32(slot[8:end]) != checksum:
        return None
    return sequence, Note.decoded(slot[_HEAD.size:end])
