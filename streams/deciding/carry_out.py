"""Steps 2 and 3: decide each event in order and collect what it does in the batch; fetch what that needs from outside."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from processors.arrival import Arrival, read_arrival
from processors.decide import Answer, Render, decide
from processors.retry import RetryPolicy
from schemas.codec import Codec
from schemas.events import ResultRow
from streams.deciding import control, failing, outcomes, stream_headers
from streams.deciding.batch_decider import BatchDecider
from streams.deciding.chores import Chores
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.in_hand import MOST_NEEDS, InHand, Known, now_ms
from streams.deciding.side_effects import Need, SideEffects
from streams.deciding.step import Step
from streams.ownership.batch import Batch
from streams.ownership.expiring_rows import without_expiry
from streams.ownership.ownership import Claim, Ownership
from streams.rendering.journal import MOST_TRIES, Journal
from streams.settings import Settings
from streams.topics import COMPLETED, DEAD_LETTERS, FAILED, REQUESTED, RETRIES

_MEMO_RESULTS = 4_096
"""Decoded result rows, about 2 KiB each: a content that is asked for again and again is read once."""
_FIRST_NEEDS = 8
"""Artifacts fetched together before it is known how long one takes."""


class Decider(BatchDecider):
    """Decides for the partitions of the requested topic."""

    def __init__(self, settings: Settings, codec: Codec, side_effects: SideEffects, journal: Journal) -> None:
        super().__init__(settings, codec, threading.Lock(), journal)
        self.side_effects = side_effects
        self.lifetimes = outcomes.Lifetimes.of(settings)
        self.retry_policy = RetryPolicy(settings.retry_delays_ms)
        self.source = REQUESTED.full_name(settings)
        self.completed_topic = COMPLETED.full_name(settings)
        self.failed_topic = FAILED.full_name(settings)
        self.dead_letter_topic = DEAD_LETTERS.full_name(settings)
        self.retry_topics = tuple((topic.full_name(settings), topic.partition_count(settings)) for topic in RETRIES[: self.retry_policy.attempts - 1])
        self.draw = random.SystemRandom().randrange
        # By the row's bytes, so that nothing has to be forgotten when the row changes.
        self.stored_result = lru_cache(maxsize=_MEMO_RESULTS)(self._stored_result)
        self._seconds_per_need = settings.batch_seconds / _FIRST_NEEDS

    def prepare(self, needs: Sequence[Need], in_hand: InHand) -> None:
        """Step 3: fetch what is needed, at least the first of it, and learn how long that takes."""
        began = time.monotonic()
        end = began + self.settings.batch_seconds
        found = self.side_effects.meet(needs, lambda: time.monotonic() < end)
        took = time.monotonic() - began
        self._seconds_per_need += (took / len(found) - self._seconds_per_need) / 4
        in_hand.add(found, took)

    def decide_one(self, event: DeliveredEvent, batch: Batch, claim: Claim, known: Known, in_hand: InHand) -> str:
        """Decide one event; the kind of the decision, for counting."""
        if control.is_control(event.headers):
            in_hand.prepared.clear()  # what is invalidated is not to be answered with what was made before
            return control.carry_out(self, event, batch, now_ms())
        deaths = known.deaths.get(event.offset, 0)
        # Reading it was tried again to fail it by name, and has killed too: its bytes are kept as they are.
        step = self.step(event, batch, claim, in_hand) if deaths <= MOST_TRIES else Step.unread(self, event, batch, claim, now_ms())
        if event.offset in known.too_large:
            # The record was refused, not the content: other requests of the same hash may fit.
            return failing.refuse_output(step)
        if deaths >= MOST_TRIES:
            return failing.condemn(step)
        return step.carry_out(decide(step.arrival, step.read_marker(), step.read_result(), step.now_ms))

    def step(self, event: DeliveredEvent, batch: Batch, claim: Claim, in_hand: InHand) -> Step:
        """One event, read as far as it can be."""
        arrival = in_hand.arrivals.pop(event.offset, None) or self.read(event, claim.partition)
        return Step(self, event, arrival, batch, claim, in_hand.prepared, now_ms())

    def read(self, event: DeliveredEvent, partition: int) -> Arrival:
        """What an event is."""
        marks = stream_headers.marks(event.headers)
        return read_arrival(
            event.key,
            event.value,
            partition=partition,
            partitions=self.settings.partitions,
            generation=marks.generation,
            attempt=marks.attempt,
            rerouted=marks.rerouted,
            codec=self.codec,
            tenants_apart=self.settings.isolation == "tenant",
        )

    def look_ahead(self, first: Need, events: Sequence[DeliveredEvent], batch: Batch, claim: Claim, in_hand: InHand) -> list[Need]:
        """The need of one event with those of the next, as far as they can be told before it is decided."""
        needs = {first.content_hash: first}
        most = min(MOST_NEEDS, max(1, int(self.settings.batch_seconds / self._seconds_per_need)))
        for event in events:
            if len(needs) == most:
                break
            if event.offset < batch.position or control.is_control(event.headers):
                continue
            step = self.step(event, batch, claim, InHand(arrivals=in_hand.arrivals))
            in_hand.arrivals[event.offset] = step.arrival
            name = step.arrival.content_hash
            if name is None or name in needs or name in in_hand.prepared:
                continue
            decision = decide(step.arrival, step.read_marker(), step.read_result(), step.now_ms)
            if isinstance(decision, (Render, Answer)) and (need := step.unmet(decision)) is not None:
                needs[name] = need
        return list(needs.values())

    def do_chores(self, owner: Ownership, batch: Batch, known: Known, flowing: Callable[[], bool]) -> Counter[str]:
        """Answer requests that waited, delete what has expired."""
        chores = Chores(self, owner, batch, now_ms(), known)
        chores.carry_out(flowing)
        owner.chores_done(more=chores.more)
        return chores.counts

    def _stored_result(self, raw: bytes) -> outcomes.StoredResult:
        return outcomes.StoredResult(self.row_codec.decode(without_expiry(raw), ResultRow))
