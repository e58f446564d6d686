"""Step 2 for the intake: decide each submission in order and collect what it does in the batch."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from processors.intake import claim_key, decide_submission
from processors.submission import SubmissionArrival, read_submission
from schemas.codec import Codec
from schemas.events import ClaimRow
from streams.deciding import stream_headers
from streams.deciding.batch_decider import BatchDecider
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.in_hand import InHand, Known, now_ms
from streams.deciding.sweep import sweep
from streams.intake.headers import content_type
from streams.intake.step import IntakeStep
from streams.ownership.batch import Batch
from streams.ownership.errors import Abandoned
from streams.ownership.expiring_rows import Due, without_expiry
from streams.ownership.ownership import Claim, Ownership
from streams.rendering.journal import Journal
from streams.settings import Settings
from streams.topics import DEAD_LETTERS, FAILED, INTAKE, REQUESTED


class IntakeDecider(BatchDecider):
    """Decides for the partitions of the intake, in turn with the render agent: the interpreter is the same."""

    def __init__(self, settings: Settings, codec: Codec, turn: threading.Lock, journal: Journal) -> None:
        super().__init__(settings, codec, turn, journal)
        self.source = INTAKE.full_name(settings)
        self.requested_topic = REQUESTED.full_name(settings)
        self.failed_topic = FAILED.full_name(settings)
        self.dead_letter_topic = DEAD_LETTERS.full_name(settings)
        self.claim_ms = int(settings.claim_ttl * 1000)

    def decide_one(self, event: DeliveredEvent, batch: Batch, claim: Claim, known: Known, in_hand: InHand) -> str:  # noqa: ARG002  # nothing is fetched
        """Decide one event; the kind of the decision, for counting."""
        marks = stream_headers.marks(event.headers)
        arrival = read_submission(
            event.value,
            content_type(event.headers),
            partition=claim.partition,
            partitions=self.settings.partitions,
            generation=marks.generation,
            rerouted=marks.rerouted,
            codec=self.codec,
            tenants_apart=self.settings.isolation == "tenant",
        )
        step = IntakeStep(self, event, arrival, batch, claim, now_ms())
        decision = decide_submission(arrival, self.read_claim(arrival, batch), step.now_ms)
        return step.refuse_output(decision) if event.offset in known.too_large else step.carry_out(decision)

    def read_claim(self, arrival: SubmissionArrival, batch: Batch) -> ClaimRow | None:
        """What the submission's key was first used for, as this batch leaves it."""
        raw = None if arrival.identity is None else batch.get(claim_key(arrival.identity))
        return None if raw is None else self.row_codec.decode(without_expiry(raw), ClaimRow)

    def do_chores(self, owner: Ownership, batch: Batch, known: Known, flowing: Callable[[], bool]) -> Counter[str]:  # noqa: ARG002  # expired claims owe nobody anything
        """Forget claims past their time."""
        counts: Counter[str] = Counter()

        def forget(due: Due, _stored: bytes) -> None:
            batch.put(due.key, None, -1)
            counts["expired"] += 1

        with self.turn:
            if not flowing():
                raise Abandoned
            owner.chores_done(more=sweep(owner, batch, now_ms(), forget))
        return counts
