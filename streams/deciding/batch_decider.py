"""How a batch of any source's events is decided: in order, below its bounds, each event noted while it is handled."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from schemas.codec import Codec
from streams.deciding.delivery import DeliveredEvent, Placement, placement
from streams.deciding.in_hand import Decided, InHand, Known
from streams.deciding.side_effects import Need, NotPrepared
from streams.ownership.batch import Batch
from streams.ownership.errors import Abandoned
from streams.ownership.ownership import Claim, Ownership
from streams.rendering.journal import Journal
from streams.settings import Settings


class BatchDecider(ABC):
    """Decides for the partitions of one source topic; safe to share between threads.

    Attributes:
        turn: held while a batch is decided. Deciding is the interpreter's work, of which one thread does some at a time;
            threads that take turns at whole batches, and not every five milliseconds, keep their batches large and their
            data in the processor's cache.
        row_codec: rows are nobody's contract but ours: they need no registry, whatever the events use.
    """

    def __init__(self, settings: Settings, codec: Codec, turn: threading.Lock, journal: Journal) -> None:
        self.settings = settings
        self.codec = codec
        self.row_codec = Codec()
        self.turn = turn
        self.journal = journal
        self.tells_each_request = settings.log_level == "debug"

    @abstractmethod
    def decide_one(self, event: DeliveredEvent, batch: Batch, claim: Claim, known: Known, in_hand: InHand) -> str:
        """Decide one event; the kind of the decision, for counting. Raises NotPrepared, with the batch as it was."""

    @abstractmethod
    def do_chores(self, owner: Ownership, batch: Batch, known: Known, flowing: Callable[[], bool]) -> Counter[str]:
        """What is to be done without an event asking for it, up to the bounds of one transaction; blocking."""

    def look_ahead(self, first: Need, events: Sequence[DeliveredEvent], batch: Batch, claim: Claim, in_hand: InHand) -> list[Need]:  # noqa: ARG002
        """The need of one event, with those of the next events as far as they can be told before it is decided."""
        return [first]

    def prepare(self, needs: Sequence[Need], in_hand: InHand) -> None:
        """Step 3: fetch what is needed, at least the first of it."""
        raise NotImplementedError

    def decide_batch(  # what a batch is decided from
        self, events: Sequence[DeliveredEvent], batch: Batch, claim: Claim, known: Known, in_hand: InHand, flowing: Callable[[], bool]
    ) -> Decided:
        """Steps 2 and 3 of one transaction: decide events in order until one of the batch's bounds is reached; blocking.

        Raises:
            Abandoned: the flow ended before a turn came.
        """
        in_hand.begin(self.settings.batch_seconds)
        decided = Decided()
        while True:
            with self.turn:
                if not flowing():
                    raise Abandoned
                with self._noted(claim, rest := events[decided.taken :]):
                    part = self.decide_events(rest, batch, claim, known, in_hand)
            decided.taken += part.taken
            decided.counts += part.counts
            decided.skipped = part.skipped
            if not part.needs or (decided.taken and time.monotonic() >= in_hand.preparing_until):
                return decided
            self.prepare(part.needs, in_hand)

    def decide_events(self, events: Sequence[DeliveredEvent], batch: Batch, claim: Claim, known: Known, in_hand: InHand) -> Decided:
        """Step 2: decide events in order until a bound, or one that needs what is not in hand."""
        decided = Decided()
        for event in events:
            where = placement(event.offset, event.continues, batch.position)
            if where is Placement.SKIPPED:
                decided.skipped = True
                break
            if where is Placement.NEXT:
                try:
                    decided.counts[self.decide_one(event, batch, claim, known, in_hand)] += 1
                except NotPrepared as missing:
                    decided.needs = self.look_ahead(missing.need, events[decided.taken + 1 :], batch, claim, in_hand)
                    break
                batch.position = event.offset + 1
            else:
                decided.counts["redelivered"] += 1
            decided.taken += 1
            if batch.output_bytes >= self.settings.batch_bytes or time.monotonic() >= in_hand.deciding_until:
                break
        return decided

    @contextmanager
    def _noted(self, claim: Claim, events: Sequence[DeliveredEvent]) -> Iterator[None]:
        """A death in here is one of these events' doing, and is noted as such.

        Not while step 3 or 4 waits: renders die in a process of their own, where they are counted, and a worker killed
        by its operator three times while it waits for the broker must not condemn the same sound request.
        """
        self.journal.begins(claim, [event.offset for event in events])
        try:
            yield
        finally:
            self.journal.ended(claim, committed=False)
