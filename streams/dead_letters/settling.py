"""Replay or discard letters, each at most once, whoever else is at it and whenever it is killed.

The order of the steps is what makes it so, for each partition of letters:

1. Fence: `init_transactions` with the partition's transactional id. Another terminal's open transaction is aborted,
   and every later one of it is refused (KIP-98, KIP-360).
2. Read the partition's dispositions to the end. Nobody else can write behind it any more.
3. For the open letters, a few at a time: the new requests or submissions and the letters' dispositions in one transaction.

| killed | what the next terminal finds |
|---|---|
| in 1, 2, or before the commit | its fencing aborts what was open; the letters are open |
| after the commit | the dispositions, in its step 2; these letters are settled |
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from schemas.events import DlqDisposition
from streams.dead_letters.choosing import Scope, chosen
from streams.dead_letters.dispositions import CODEC, State, disposition_spans, read_settled
from streams.dead_letters.pace import Pace
from streams.dead_letters.received import ReceivedLetter
from streams.dead_letters.replay_plan import Refusal, Refused, Replay, Ways, plan
from streams.dead_letters.source import value_at_source
from streams.ownership.batch import Batch, OutgoingRecord
from streams.ownership.errors import Fenced, OutputTooLarge, TransactionAborted
from streams.ownership.transaction import TransactionalProducer
from streams.settings import Settings
from streams.topics import DISPOSITIONS

MOST_LETTERS = 100
"""Of one transaction. One by one, a commit each is the cost; more only make the whole step larger that a kill undoes."""
MOST_ABORTS = 5
"""Aborts in a row of one transaction. A broker that restarts causes one or two; more is no accident."""
FIRST_PAUSE_SECONDS = 0.2

Told = Callable[[ReceivedLetter, "Replay | Refused | None"], None]
"""Is called with each letter once its fate is committed, or it is refused: None says that it was discarded."""


@dataclass(frozen=True, slots=True)
class Order:
    """What an operator has decided.

    Attributes:
        ways: how to replay; None to discard.
        rate: letters a second, None for as fast as it goes.
    """

    scope: Scope
    ways: Ways | None
    who: str
    why: str | None
    rate: float | None = None


@dataclass(slots=True)
class Tally:
    """What came of an order.

    Attributes:
        interrupted: the operator stopped it; the same order again goes on.
    """

    settled: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class _Planned:
    letter: ReceivedLetter
    replay: Replay | None

    @property
    def size(self) -> int:
        return len(self.replay.value or b"") if self.replay else 0


def transactional_id(settings: Settings, partition: int) -> str:
    """One for each partition of letters: whoever takes it fences the other terminal."""
    return f"{settings.app_id}-dlq-replay-{partition}"


def planned(settings: Settings, ways: Ways | None, letter: ReceivedLetter) -> Replay | Refused | None:
    """What would be done with one letter; None stands for discarding it.

    Raises:
        BrokerUnreachable: its value is elsewhere, and cannot be read.
    """
    return None if ways is None else plan(letter, ways, value_at_source(settings, letter), _now_ms())


def settle(settings: Settings, order: Order, told: Told, stopped: Callable[[], bool]) -> Tally:
    """Carry out an order; blocking. `stopped` is asked between transactions.

    Raises:
        Fenced: another terminal is at the same letters.
        CommitUncertain: the broker did not say whether a transaction was committed; run it again.
        OwnershipLost, BrokerUnreachable, TopicMissing: what was committed so far stays.
    """
    tally = Tally()
    pace = Pace(order.rate)
    for partition in order.scope.partitions:
        if stopped():
            tally.interrupted = True
            break
        producer = TransactionalProducer(settings, transactional_id(settings, partition))
        try:
            _settle_partition(settings, order, partition, _Writer(settings, producer, partition, order), tally, pace, told, stopped)
        except Fenced as exc:
            raise Fenced(f"another terminal has taken over the dead letters of partition {partition}: nothing of the open transaction counts, {tally.settled} letters were settled before; run it again for what is left") from exc
        # Only a sound one: a fenced producer answers even this with its error, which would hide what happened.
        producer.close()
        if tally.interrupted:
            break
    return tally


def _settle_partition(settings: Settings, order: Order, partition: int, writer: _Writer, tally: Tally, pace: Pace, told: Told, stopped: Callable[[], bool]) -> None:  # noqa: PLR0913, PLR0917  # one call, to keep the numbered steps together
    writer.producer.fence()  # 1
    dispositions = disposition_spans(settings, order.scope.letters)[partition]
    settled = read_settled(settings, partition, order.scope.letters[partition], dispositions)  # 2
    open_letters = (letter for letter, state in chosen(settings, order.scope, partition, settled) if state is State.open)

    def refuse(letter: ReceivedLetter, refused: Refused) -> None:
        tally.refused[refused.code.name] += 1
        told(letter, refused)

    for step in _steps(settings, order, open_letters, refuse):  # 3
        pace.wait(len(step), stopped)
        if stopped():
            tally.interrupted = True
            return
        for done in writer.write(step, refuse):
            tally.settled += 1
            told(done.letter, done.replay)


def _steps(settings: Settings, order: Order, letters: Iterator[ReceivedLetter], refuse: Callable[[ReceivedLetter, Refused], None]) -> Iterator[list[_Planned]]:
    """Letters for one transaction after the other, bounded in number and bytes; what is refused is told and left out."""
    most = MOST_LETTERS if order.rate is None else max(1, min(MOST_LETTERS, int(order.rate)))
    step: list[_Planned] = []
    for letter in letters:
        what = planned(settings, order.ways, letter)
        if isinstance(what, Refused):
            refuse(letter, what)
            continue
        step.append(_Planned(letter, what))
        if len(step) == most or sum(one.size for one in step) >= settings.batch_bytes:
            yield step
            step = []
    if step:
        yield step


@dataclass(slots=True)
class _Writer:
    """The transactions of one partition of letters."""

    settings: Settings
    producer: TransactionalProducer
    partition: int
    order: Order

    def write(self, step: list[_Planned], refuse: Callable[[ReceivedLetter, Refused], None]) -> list[_Planned]:
        """Commit one step; what of it was committed. A letter that the broker finds too large is refused, alone."""
        aborts = 0
        while step:
            try:
                self.producer.publish(self._batch(step), DISPOSITIONS.full_name(self.settings), self.partition)
                return step
            except OutputTooLarge as exc:
                kept = [one for one in step if one.letter.offset != exc.origin]
                if len(kept) == len(step):
                    raise
                refuse(next(one.letter for one in step if one.letter.offset == exc.origin), Refused(Refusal.too_large))
                step = kept
            except TransactionAborted:
                aborts += 1
                if aborts == MOST_ABORTS:
                    raise
                time.sleep(FIRST_PAUSE_SECONDS * 2 ** (aborts - 1))
        return step

    def _batch(self, step: list[_Planned]) -> Batch:
        batch = Batch(lambda _key: None, 0, 0)
        for one in step:
            replay, letter = one.replay, one.letter
            disposition = DlqDisposition(
                letter=letter.name, action="discarded", generation=letter.number("generation") or 0,
                who=self.order.who, why=self.order.why, decided_at=_now_ms(),
            )
            if replay is not None:
                batch.send(OutgoingRecord(replay.topic, replay.key, replay.value, replay.headers, letter.offset, replay.partition))
                disposition = replace(
                    disposition, action="replayed", generation=replay.generation, target_topic=replay.topic,
                    target_partition=replay.partition, key_repaired=replay.key_repaired,
                )
            batch.put(letter.name.encode(), CODEC.encode(disposition), letter.offset)
        return batch


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


