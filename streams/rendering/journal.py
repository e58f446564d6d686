"""Which offsets were being handled when the worker died, and how often that has happened to each.

Before offsets are handled they are noted, after that the note is withdrawn; both survive kill -9. A worker that died
in between is told at its next start which offsets to decide one at a time: each death is then one record's, and a
record that has seen `MOST_TRIES` of them is dead-lettered without being handled again. An exception is no death, and
neither is an end that the worker chose itself (a fencing, a lost broker): see `ended` and `withdraw_all`.

Counted per data folder: another worker that takes the partition over counts for itself.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import structlog

from streams.exit_codes import ExitCode
from streams.ownership.errors import OwnershipLost
from streams.rendering.journal_file import MOST_RANGES, MOST_SUSPECTS, JournalFile, Note, Noted, Range, Suspects

if TYPE_CHECKING:
    from streams.ownership.ownership import Claim

log = structlog.get_logger(__name__)

MOST_TRIES: Final = 3
"""As with renders: one death may be an accident, two a coincidence."""
UNKNOWN_AHEAD: Final = 500
"""Offsets decided one at a time from the position where no note can be read: a micro-batch of the default size."""


class JournalUnusable(OwnershipLost):
    """The journal cannot be written: the worker must not handle what may kill it uncounted."""

    exit_code = ExitCode.DATA_FOLDER


class Journal:
    """The journals of a worker's partitions, in one folder; safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        """Nothing is read yet; one worker at a time may use the folder."""
        self._folder = folder
        self._pages: dict[tuple[str, int], _Page] = {}
        self._opening = threading.Lock()

    def begins(self, claim: Claim, offsets: Sequence[int]) -> None:
        """Note that these offsets (ascending) are about to be handled. Raises JournalUnusable."""
        self._page(claim).begins(offsets)

    def ended(self, claim: Claim, *, committed: bool = True) -> None:
        """Withdraw the note; uncommitted offsets keep the deaths that they had before."""
        self._page(claim).ended(committed=committed)

    def after_unclean_exit(self, claim: Claim, position: int | None = None) -> dict[int, int]:
        """Offsets to decide one at a time, with the deaths that each has seen; empty if there is no reason to.

        `position`: the next offset to decide. What lies below is left out; and where the journal could not be
        read, the UNKNOWN_AHEAD offsets from there are returned, without a death. The same answer until they are
        handled, however often the worker is started in between. Raises JournalUnusable.
        """
        return self._page(claim).suspects(position)

    def last_exit(self, claim: Claim) -> Noted | None:
        """How the last process that had this partition here ended; None if there was none. Raises JournalUnusable."""
        return self._page(claim).last_exit

    def withdraw_all(self) -> None:
        """Withdraw every note, uncommitted: this process is about to end by its own choice, and no record is to blame."""
        with self._opening:
            pages = list(self._pages.values())
        for page in pages:
            page.ended(committed=False)

    def close(self) -> None:
        """Note a clean stop wherever nothing is being handled."""
        with self._opening:
            for page in self._pages.values():
                page.close()
            self._pages.clear()

    def _page(self, claim: Claim) -> _Page:
        name = claim.source_id, claim.partition
        page = self._pages.get(name)
        if page is None:
            with self._opening:
                page = self._pages.get(name) or self._opened(claim)
                self._pages[name] = page
        return page

    def _opened(self, claim: Claim) -> _Page:
        path = self._folder / f"{quote(claim.source_id, safe='')}-{claim.partition}.journal"
        try:
            page = _Page(JournalFile(path))
        except OSError as exc:
            raise JournalUnusable(f"the journal {path} cannot be written: {exc.strerror or exc}; set QR_DATA_DIR to a folder that can") from exc
        if page.last_exit is Noted.UNREADABLE:
            log.warning("journal_unreadable", path=str(path), partition=claim.partition, consequence=f"{UNKNOWN_AHEAD} offsets are decided one at a time")
        return page


class _Page:
    """One partition's notes, and what they mean."""

    def __init__(self, file: JournalFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        found = file.found
        self.last_exit = None if found is None else found.noted
        self._unknown = found is not None and found.noted is Noted.UNREADABLE
        self._in_flight: tuple[Range, ...] = ()
        self._suspects = () if found is None else with_one_more_death(found.suspects, found.in_flight)
        if found is not None and not self._unknown:
            # One note makes of the offsets in flight suspects with a death more: a kill before it leaves them in flight.
            file.write(Note(Noted.IDLE, (), self._suspects))

    def begins(self, offsets: Sequence[int]) -> None:
        with self._lock:
            if self._unknown:
                self._suspects = ((offsets[0], offsets[0] + UNKNOWN_AHEAD - 1, 0),)
                self._unknown = False
            self._suspects = not_below(self._suspects, offsets[0])
            self._in_flight = ranges_of(offsets)
            self._file.write(Note(Noted.IN_FLIGHT, self._in_flight, self._suspects))

    def ended(self, *, committed: bool) -> None:
        with self._lock:
            if not self._in_flight:
                return
            if committed:
                self._suspects = not_below(self._suspects, self._in_flight[-1][1] + 1)
            self._in_flight = ()
            self._file.write(Note(Noted.IDLE, (), self._suspects))

    def suspects(self, position: int | None) -> dict[int, int]:
        with self._lock:
            if self._unknown and position is not None:
                return dict.fromkeys(range(position, position + UNKNOWN_AHEAD), 0)
            known = self._suspects if position is None else not_below(self._suspects, position)
            return {offset: deaths for first, last, deaths in known for offset in range(first, last + 1)}

    def close(self) -> None:
        with self._lock:
            if self._in_flight:
                return
            if not self._unknown:
                self._file.write(Note(Noted.CLEAN, (), self._suspects))
            self._file.close()


def ranges_of(offsets: Sequence[int]) -> tuple[Range, ...]:
    """Ascending offsets as at most MOST_RANGES ranges.

    Where there would be more, the narrowest gaps are filled: within a micro-batch a gap holds no records, only
    transaction markers and aborted ones.
    """
    if offsets[-1] - offsets[0] == len(offsets) - 1:
        return ((offsets[0], offsets[-1]),)
    gaps = [(following - before, place) for place, (before, following) in enumerate(itertools.pairwise(offsets), 1) if following - before > 1]
    cuts = [0, *sorted(place for _, place in nlargest(MOST_RANGES - 1, gaps)), len(offsets)]
    return tuple((offsets[begin], offsets[end - 1]) for begin, end in itertools.pairwise(cuts))


def not_below(suspects: tuple[Suspects, ...], offset: int) -> tuple[Suspects, ...]:
    """The suspects from an offset on."""
    return tuple((max(first, offset), last, deaths) for first, last, deaths in suspects if last >= offset) if suspects else ()


def with_one_more_death(suspects: tuple[Suspects, ...], in_flight: tuple[Range, ...]) -> tuple[Suspects, ...]:
    """The suspects after a death with these offsets in flight.

    Where they would be more than MOST_SUSPECTS, neighbours are joined: over the narrowest gap (it holds no records)
    if their deaths are equal, else with the fewer deaths of the two. That costs another death, where a count too high
    would condemn a sound record.
    """
    if not in_flight:
        return suspects
    edges = sorted({edge for first, last, *_ in (*suspects, *in_flight) for edge in (first, last + 1)})
    counted: list[Suspects] = []
    for begin, end in itertools.pairwise(edges):
        told = [deaths for first, last, deaths in suspects if first <= begin <= last]
        died = any(first <= begin <= last for first, last in in_flight)
        if not told and not died:
            continue
        deaths = sum(told) + died
        if counted and counted[-1][1:] == (begin - 1, deaths):
            counted[-1] = (counted[-1][0], end - 1, deaths)
        else:
            counted.append((begin, end - 1, deaths))
    while len(counted) > MOST_SUSPECTS:
        place = min(range(len(counted) - 1), key=lambda at: (abs(counted[at][2] - counted[at + 1][2]), counted[at + 1][0] - counted[at][1]))
        one, other = counted[place:place + 2]
        counted[place:place + 2] = [(one[0], other[1], min(one[2], other[2]))]
    return tuple(counted)
