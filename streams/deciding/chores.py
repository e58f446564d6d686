"""What an owner does without an event asking for it: answering requests that waited, deleting what has expired.

In transactions as the events' own. Both work through rows in small portions, so that events are not kept waiting, and go on after a crash where the last
transaction has left off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from processors.decide import Drop, Reroute, Wait, decide
from processors.row_keys import artifact_key, is_content_hash
from schemas.events import WaitingRow
from streams.deciding import failing, waiting
from streams.deciding.in_hand import InHand, Known
from streams.deciding.side_effects import Found, NotPrepared
from streams.deciding.step import Step
from streams.deciding.sweep import sweep
from streams.ownership.batch import Batch
from streams.ownership.errors import Abandoned
from streams.ownership.expiring_rows import Due, without_expiry
from streams.ownership.ownership import Ownership

if TYPE_CHECKING:
    from streams.deciding.carry_out import Decider

log = structlog.get_logger(__name__)

MOST_ANSWERED = 200
"""Waiting requests of one transaction: with an inline artifact each, some hundred kilobytes."""
_RESULT = b"result/"
_WITH_OUTCOME_OWED = (waiting.PARKED, waiting.WAITING)


class Chores:
    """One round of chores of one partition."""

    def __init__(self, decider: Decider, owner: Ownership, batch: Batch, now_ms: int, known: Known) -> None:
        self._decider = decider
        self._owner = owner
        self._batch = batch
        self._now_ms = now_ms
        self._known = known
        self.counts: Counter[str] = Counter()
        self.more = False
        self._left = MOST_ANSWERED

    def carry_out(self, flowing: Callable[[], bool]) -> None:
        """Answer and sweep, up to the bounds of one transaction; blocking. `more` says whether some is left.

        Raises:
            Abandoned: the flow ended before a turn came.
        """
        in_hand = InHand()
        while True:
            with self._decider.turn:
                if not flowing():
                    raise Abandoned
                try:
                    self._answer_waiting(in_hand.prepared)
                    self.more |= sweep(self._owner, self._batch, self._now_ms, self._expire)
                except NotPrepared as missing:
                    need = missing.need
                else:
                    return
            self._decider.prepare([need], in_hand)

    def _answer_waiting(self, prepared: dict[str, Found]) -> None:
        """Decide again, in the order of their coming, requests whose retry has come to its end."""
        for key, _ in self._batch.scan(waiting.ANSWERABLE, MOST_ANSWERED):
            content_hash = key[len(waiting.ANSWERABLE) :].decode()
            waits_again = False
            for name, stored in self._batch.scan(waiting.waiting_prefix(content_hash), self._left):
                if self._batch.output_bytes >= self._decider.settings.batch_bytes:
                    self._left = 0
                    break
                step = self._step(stored, prepared)
                if not self._decide_again(step):
                    waits_again = True
                    break
                self._batch.put(name, None, step.event.offset)
                self._left -= 1
            if waits_again or not self._batch.scan(waiting.waiting_prefix(content_hash), 1):
                self._batch.put(key, None, -1)
            if self._left <= 0:
                self.more = True
                return

    def _decide_again(self, step: Step) -> bool:
        """Whether the request has been dealt with; else it waits for another retry."""
        if step.event.offset in self._known.too_large:
            self.counts[failing.refuse_output(step)] += 1
            return True
        # Its marker says that it was taken, which is why it has waited.
        decision = decide(step.arrival, None, step.read_result(), step.now_ms)
        if isinstance(decision, Wait):
            return False
        assert not isinstance(decision, (Drop, Reroute))
        self.counts[step.carry_out(decision)] += 1
        return True

    def _expire(self, due: Due, stored: bytes) -> None:
        """One row whose time has come. What owes somebody an outcome never goes in silence."""
        if due.key.startswith(_WITH_OUTCOME_OWED):
            step = self._step(stored, {})
            if step.arrival.request is None:
                log.error("waiting_row_unreadable", partition=self._owner.claim.partition, offset=step.event.offset)
                return
            failing.lose(step)
            self.counts["retry_lost"] += 1
            self._batch.put(due.key, None, step.event.offset)
            return
        self._batch.put(due.key, None, -1)
        name = due.key[len(_RESULT) :]
        if due.key.startswith(_RESULT) and is_content_hash(name) and self._batch.get(artifact_key(name.decode())) is not None:
            self._batch.put(artifact_key(name.decode()), None, -1)
        self.counts["expired"] += 1

    def _step(self, stored: bytes, prepared: dict[str, Found]) -> Step:
        claim = self._owner.claim
        row = self._decider.row_codec.decode(without_expiry(stored), WaitingRow)
        event = waiting.event_of(row, claim.generation)
        return Step(self._decider, event, self._decider.read(event, claim.partition), self._batch, claim, prepared, self._now_ms, waited=True)
