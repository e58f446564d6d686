"""Step 2: decide each event in order and collect what it does in the batch; render where nothing else answers."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from processors.arrival import read_arrival
from processors.decide import decide
from schemas.codec import Codec
from schemas.events import ResultRow
from streams.deciding import outcomes, stream_headers
from streams.deciding.delivery import DeliveredEvent, Placement, placement
from streams.deciding.step import Step
from streams.ownership.batch import Batch
from streams.ownership.ownership import Claim
from streams.settings import Settings
from streams.topics import COMPLETED, DEAD_LETTERS, FAILED, REQUESTED

_MEMO_RESULTS = 4_096
"""Decoded result rows, about 2 KiB each: a content that is asked for again and again is read once."""


@dataclass(slots=True)
class Decided:
    """How far one call of `decide_events` came.

    Attributes:
        taken: how many of the given events were dealt with, redelivered ones included.
        skipped: True if the next event continues beyond the position; nothing after it was looked at.
        counts: decisions by kind.
    """

    taken: int = 0
    skipped: bool = False
    counts: Counter[str] = field(default_factory=Counter)


class Decider:
    """Decides for the partitions of one source topic; safe to share between threads."""

    def __init__(self, settings: Settings, codec: Codec) -> None:
        self.settings = settings
        self.codec = codec
        # Rows are nobody's contract but ours: they need no registry, whatever the events use.
        self.row_codec = Codec()
        self.lifetimes = outcomes.Lifetimes(
            int(settings.result_ttl * 1000), int(settings.failure_ttl * 1000), int(settings.request_ttl * 1000)
        )
        self.source = REQUESTED.full_name(settings)
        self.completed_topic = COMPLETED.full_name(settings)
        self.failed_topic = FAILED.full_name(settings)
        self.dead_letter_topic = DEAD_LETTERS.full_name(settings)
        self.tells_each_request = settings.log_level == "debug"
        # Deciding is the interpreter's work, of which one thread does some at a time. Threads that take turns at whole
        # batches and not every five milliseconds keep their batches large and their data in the processor's cache.
        self.turn = threading.Lock()
        # By the row's bytes, so that nothing has to be forgotten when the row changes.
        self.stored_result = lru_cache(maxsize=_MEMO_RESULTS)(self._stored_result)

    def decide_events(self, events: list[DeliveredEvent], batch: Batch, claim: Claim, too_large: frozenset[int]) -> Decided:
        """Decide events in order until one of the batch's bounds is reached; blocking, renders.

        `too_large` holds offsets whose output was refused for its size: they fail with `output_too_large`.
        """
        decided = Decided()
        started = time.monotonic()
        for event in events:
            where = placement(event.offset, event.continues, batch.position)
            if where is Placement.SKIPPED:
                decided.skipped = True
                break
            if where is Placement.NEXT:
                decided.counts[self._one(event, batch, claim, event.offset in too_large)] += 1
                batch.position = event.offset + 1
            else:
                decided.counts["redelivered"] += 1
            decided.taken += 1
            if batch.output_bytes >= self.settings.batch_bytes or time.monotonic() - started >= self.settings.batch_seconds:
                break
        return decided

    def _one(self, event: DeliveredEvent, batch: Batch, claim: Claim, too_large: bool) -> str:
        """Decide one event; the kind of the decision, for counting."""
        marks = stream_headers.marks(event.headers)
        arrival = read_arrival(
            event.key,
            event.value,
            partition=claim.partition,
            partitions=self.settings.partitions,
            generation=marks.generation,
            attempt=marks.attempt,
            rerouted=marks.rerouted,
            codec=self.codec,
        )
        step = Step(self, event, arrival, batch, claim, time.time_ns() // 1_000_000)
        if too_large:
            # The record was refused, not the content: other requests of the same hash may fit.
            return step.refuse_output()
        return step.carry_out(decide(arrival, step.read_marker(), step.read_result(), step.now_ms))

    def _stored_result(self, raw: bytes) -> outcomes.StoredResult:
        return outcomes.StoredResult(self.row_codec.decode(raw, ResultRow))
