"""Steps 2 to 5 of a micro-batch under one ownership, and what happens when a transaction fails.

The six steps (docs/ownership.md has the failure table):
1 take (the agent), 2 decide, 3 side effects outside Kafka (renders, artifact store), 4 one transaction,
5 local rows, 6 acknowledge (the agent).
"""

from __future__ import annotations

from asyncio import sleep
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import structlog

from streams.deciding.batch_decider import BatchDecider
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.in_hand import Decided, InHand, Known
from streams.ownership.errors import OutputTooLarge, OwnershipLost, StateUnusable, TransactionAborted
from streams.ownership.ownership import Ownership

log = structlog.get_logger(__name__)

MOST_ABORTS = 5
"""Aborts in a row of one batch. A broker that restarts causes one or two; more is no accident."""
FIRST_PAUSE_SECONDS = 0.2
"""Before a batch is decided again; twice as long each time (3 s in all), so that a coordinator that moves has moved."""


async def run_micro_batch(owner: Ownership, decider: BatchDecider, events: Sequence[DeliveredEvent], flowing: Callable[[], bool]) -> bool:
    """Decide and commit events in order; False if the next one does not continue at the position.

    `flowing` is asked before each transaction. A rebalance and a stop wait for what has been taken, and no
    heartbeats are sent meanwhile: 500 renders would outlast the session timeout.

    Raises:
        Abandoned: the ownership ended, or the flow did; whoever owns the partition next gets the rest again.
        OwnershipLost: the process must end.
    """
    remaining = [event for event in events if event.generation == owner.claim.generation]
    # Drained from the queue past the check that Faust's stream makes of the event it yields.
    counts = Counter(stale_generation=len(events) - len(remaining))
    too_large: frozenset[int] = frozenset()
    in_hand = InHand()
    aborts = 0
    skipped = False
    while remaining and not skipped:
        steps = partial(_decide_and_commit, owner, decider, remaining, Known(too_large), in_hand, flowing)
        try:
            decided = await owner.in_thread(steps)
        except TransactionAborted as exc:
            aborts += 1
            log.warning("transaction_aborted", partition=owner.claim.partition, reason=str(exc), aborts=aborts)
            if aborts == MOST_ABORTS:
                raise OwnershipLost(f"{aborts} transactions in a row were aborted: {exc}") from exc
            await sleep(FIRST_PAUSE_SECONDS * 2 ** (aborts - 1))
            continue
        except OutputTooLarge as exc:
            too_large = _with_refused(owner, too_large, exc)
            continue
        aborts = 0
        skipped = decided.skipped
        remaining = remaining[decided.taken:]
        counts += decided.counts
    _tell(owner, counts)
    return not skipped


def _decide_and_commit(  # what a transaction is made from
    owner: Ownership, decider: BatchDecider, events: Sequence[DeliveredEvent], known: Known, in_hand: InHand, flowing: Callable[[], bool]
) -> Decided:
    """Steps 2 to 5 of one transaction, blocking; one partition at a time decides.

    Raises:
        Abandoned: the flow or the ownership ended before this batch's turn.
    """
    deaths = decider.journal.after_unclean_exit(owner.claim, owner.position)
    # After a death each record is handled by itself, so that the next death is one record's.
    events = events[: 1 if events and events[0].offset in deaths else decider.settings.batch_records]
    known = replace(known, deaths=deaths)
    with owner.deciding() as batch:
        decided = decider.decide_batch(events, batch, owner.claim, known, in_hand, flowing) if events else Decided()
        if owner.chores_are_due():
            decided.counts += decider.do_chores(owner, batch, known, flowing)
    if batch.position > owner.position or batch.rows or batch.passed:
        try:
            owner.commit(batch)
        except (OutputTooLarge, TransactionAborted):
            owner.chores_done(more=True)  # they are not: nothing of the batch is visible
            raise
    return decided


async def tend(owner: Ownership, decider: BatchDecider, flowing: Callable[[], bool]) -> None:
    """The chores of a partition that no event keeps awake, as many transactions as they need.

    Raises:
        Abandoned: the ownership ended, or the flow did.
        OwnershipLost: the process must end.
    """
    too_large: frozenset[int] = frozenset()
    while owner.chores_are_due():
        try:
            decided = await owner.in_thread(partial(_decide_and_commit, owner, decider, [], Known(too_large), InHand(), flowing))
        except TransactionAborted as exc:
            log.warning("transaction_aborted", partition=owner.claim.partition, reason=str(exc), aborts=1)
            return  # nothing has changed: the next round begins anew
        except OutputTooLarge as exc:
            too_large = _with_refused(owner, too_large, exc)
            continue
        _tell(owner, decided.counts)


def _with_refused(owner: Ownership, too_large: frozenset[int], refused: OutputTooLarge) -> frozenset[int]:
    """The offsets whose output was refused for its size, with one more.

    Raises:
        StateUnusable: it is there already: its dead letter is refused too. Never a loop.
    """
    if refused.origin in too_large:
        raise StateUnusable(
            f"{owner.claim.source}-{owner.claim.partition}: the dead letter of offset {refused.origin} is larger than its topic takes; "
            "even without the value; `qrstream topics check` names a topic whose max.message.bytes is too small"
        ) from refused
    return too_large | {refused.origin}


def _tell(owner: Ownership, counts: Counter[str]) -> None:
    told = {kind: count for kind, count in counts.items() if count}
    unusual = told.keys() & {"redelivered", "stale_generation", "rerouted", "dead_letter", "retry_lost"}
    (log.info if unusual else log.debug)("batch_committed", agent=owner.claim.agent, partition=owner.claim.partition, position=owner.position, **told)


