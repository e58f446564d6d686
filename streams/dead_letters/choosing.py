"""The letters that a selection means, partition by partition in the order of their offsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streams.dead_letters.dispositions import Settled, State, disposition_spans, read_settled
from streams.dead_letters.reading import Span, read, spans
from streams.dead_letters.received import ReceivedLetter, received
from streams.dead_letters.selection import Selection
from streams.settings import Settings
from streams.topics import DEAD_LETTERS


@dataclass(frozen=True, slots=True)
class Scope:
    """Which offsets are looked at: what was there when the operator looked.

    Fixed once for the dry run and what follows it. A replay that fails again is a new letter behind the end: without
    the end it would be replayed too, and again, for ever.
    """

    selection: Selection
    letters: dict[int, Span]

    def spans(self, partition: int) -> list[Span]:
        """Where the letters that are meant can lie."""
        there = self.letters[partition]
        if self.selection.places is None:
            return [there]
        named = sorted({offset for at, offset in self.selection.places if at == partition})
        return [Span(offset, offset + 1) for offset in named if there.start <= offset < there.end]

    @property
    def partitions(self) -> list[int]:
        """Those in which there may be one."""
        return [partition for partition in self.letters if any(span.start < span.end for span in self.spans(partition))]


def look(settings: Settings, selection: Selection) -> Scope:
    """Fix what is looked at.

    Raises:
        BrokerUnreachable, TopicMissing: the letters cannot be read.
    """
    return Scope(selection, spans(settings, DEAD_LETTERS.full_name(settings)))


def letters_with_state(settings: Settings, scope: Scope) -> Iterator[tuple[ReceivedLetter, State]]:
    """Every letter that is meant, with what has been done with it so far; for looking only, nothing is fenced.

    Raises:
        BrokerUnreachable, TopicMissing: they cannot be read.
        StateUnusable: a disposition cannot be understood.
    """
    dispositions = disposition_spans(settings, scope.letters)
    for partition in scope.partitions:
        settled = read_settled(settings, partition, scope.letters[partition], dispositions[partition])
        yield from chosen(settings, scope, partition, settled)


def chosen(settings: Settings, scope: Scope, partition: int, settled: Settled) -> Iterator[tuple[ReceivedLetter, State]]:
    """The letters of one partition that are meant.

    Raises:
        BrokerUnreachable: they cannot be read.
    """
    topic = DEAD_LETTERS.full_name(settings)
    for span in scope.spans(partition):
        for message in read(settings, topic, partition, span):
            state = settled.of(message.offset() or 0)
            if state is not State.open and not scope.selection.settled:
                continue
            letter = received(message)
            if scope.selection.means(letter):
                yield letter, state
