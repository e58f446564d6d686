"""What has been done with letters: written beside each replay, read back before the next."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from schemas.codec import Codec, UndecodableError
from schemas.events import DlqDisposition
from streams.dead_letters.reading import Span, read, spans
from streams.dead_letters.received import ReceivedLetter, place_of
from streams.ownership.errors import StateUnusable
from streams.settings import Settings
from streams.topic_reader import TopicMissing
from streams.topics import DEAD_LETTERS, DISPOSITIONS

CODEC = Codec()
"""Single-object encoding always: read and written by qrstream dlq alone, which then needs no schema registry."""


class State(IntEnum):
    """Of one letter; the number is its byte in `Settled`."""

    open = 0
    replayed = 1
    discarded = 2


class Settled:
    """The states of the letters of one partition, a byte each: a million letters are a megabyte.

    Of letters that retention has deleted nothing is kept, though their dispositions are still there.
    """

    def __init__(self, letters: Span) -> None:
        self._start = letters.start
        self._states = bytearray(max(0, letters.end - letters.start))

    def set(self, offset: int, state: State) -> None:
        """Note the newest disposition of a letter."""
        if 0 <= offset - self._start < len(self._states):
            self._states[offset - self._start] = state

    def of(self, offset: int) -> State:
        """Whether a letter is open."""
        inside = 0 <= offset - self._start < len(self._states)
        return State(self._states[offset - self._start]) if inside else State.open


def disposition_spans(settings: Settings, letters: dict[int, Span]) -> dict[int, Span]:
    """What the dispositions' partitions hold; there is one for each partition of letters.

    Raises:
        BrokerUnreachable: no answer.
        TopicMissing: the topic is not there, or has fewer partitions than the letters'.
    """
    name = DISPOSITIONS.full_name(settings)
    found = spans(settings, name)
    if letters.keys() - found.keys():
        raise TopicMissing(f"topic {name} has {len(found)} partitions and the dead letters {len(letters)}; `qrstream topics check` says what does not fit")
    return found


def read_settled(settings: Settings, partition: int, letters: Span, dispositions: Span) -> Settled:
    """The states of the letters of one partition, by the dispositions in a span.

    Only a span that was taken after fencing holds everything: no other terminal can then write behind its end.

    Raises:
        BrokerUnreachable: they cannot be read.
        StateUnusable: one of them cannot be understood; nothing may be replayed then.
    """
    settled = Settled(letters)
    for offset, disposition in _read(settings, partition, dispositions):
        settled.set(offset, State.open if disposition is None else _state(disposition))
    return settled


def find_disposition(settings: Settings, letter: ReceivedLetter) -> DlqDisposition | None:
    """The disposition of one letter, whole; None for an open one."""
    found: DlqDisposition | None = None
    span = disposition_spans(settings, {letter.partition: Span(0, 0)})[letter.partition]
    for offset, disposition in _read(settings, letter.partition, span):
        if offset == letter.offset:
            found = disposition
    return found


def _read(settings: Settings, partition: int, span: Span) -> Iterator[tuple[int, DlqDisposition | None]]:
    topic, letters = DISPOSITIONS.full_name(settings), DEAD_LETTERS.full_name(settings)
    for message in read(settings, topic, partition, span):
        place = place_of((message.key() or b"").decode("utf-8", "replace"), letters)
        if place is None or place[0] != partition:
            continue  # of another topic of letters: not ours to judge
        raw = message.value()
        try:
            yield place[1], None if raw is None else CODEC.decode(raw, DlqDisposition)
        except UndecodableError as exc:
            raise StateUnusable(f"{topic}-{partition}@{message.offset()} cannot be understood ({exc.reason}): use the release that wrote it, nothing is replayed before") from exc


def _state(disposition: DlqDisposition) -> State:
    # An action of a newer release settles the letter too: at worst it is left alone.
    return State.replayed if disposition.action == "replayed" else State.discarded
