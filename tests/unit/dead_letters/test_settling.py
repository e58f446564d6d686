"""The transactions of a replay: what is in one, and what its errors do. The producer is scripted, the rest is real."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from processors.canonical import identify
from schemas.codec import Codec
from schemas.events import DlqDisposition, RenderRequested
from streams.dead_letters import settling
from streams.dead_letters.choosing import Scope
from streams.dead_letters.reading import Span
from streams.dead_letters.received import ReceivedLetter
from streams.dead_letters.replay_plan import Refusal, Refused, Ways
from streams.dead_letters.selection import Selection
from streams.dead_letters.settling import MOST_ABORTS, MOST_LETTERS, Order
from streams.ownership.batch import Batch
from streams.ownership.errors import Fenced, OutputTooLarge, TransactionAborted
from streams.settings import load_settings

CODEC = Codec()
SETTINGS = load_settings(broker="127.0.0.1:1")
SCOPE = Scope(Selection(), {3: Span(0, 1000)})
WAYS = Ways("qr.render.requested", "qr.render.intake", 8, CODEC)


class ScriptedProducer:
    """Commits into a list; fails as the script says first."""

    def __init__(self, *script: BaseException | None) -> None:
        self.script = list(script)
        self.committed: list[Batch] = []
        self.asked: list[tuple[str, int]] = []

    def publish(self, batch: Batch, topic: str, partition: int) -> int:
        self.asked.append((topic, partition))
        planned = self.script.pop(0) if self.script else None
        if planned is not None:
            raise planned
        self.committed.append(batch)
        return 0


def letters(count: int, size: int = 1) -> Iterator[ReceivedLetter]:
    for offset in range(count):
        request = RenderRequested(request_id=f"r{offset}", content="x" * size, requested_at=1)
        key = identify(request)[1].encode()
        facts = {"reason": "render_failed", "source-topic": WAYS.requested, "generation": "1"}
        yield ReceivedLetter("qr.render.dlq", 3, offset, 1, key, CODEC.encode(request), (), facts)


def steps(order: Order, given: Iterator[ReceivedLetter]) -> list[list[Any]]:
    return list(settling._steps(SETTINGS, order, given, lambda *_: pytest.fail("a letter is refused")))


def written(producer: ScriptedProducer, order: Order, count: int = 3) -> tuple[list[int], list[tuple[int, Refusal]]]:
    refused: list[tuple[int, Refusal]] = []
    (step,) = steps(order, letters(count))
    writer = settling._Writer(SETTINGS, producer, 3, order)  # type: ignore[arg-type]  # what it needs of a producer
    done = writer.write(step, lambda letter, why: refused.append((letter.offset, why.code)))
    return [one.letter.offset for one in done], refused


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.dead_letters.settling.time.sleep", lambda _: None)


REPLAY = Order(SCOPE, WAYS, "ann", "repaired")


def test_a_step_has_each_new_request_and_each_disposition_and_nothing_else() -> None:
    producer = ScriptedProducer()
    assert written(producer, REPLAY) == ([0, 1, 2], [])
    (batch,) = producer.committed
    assert producer.asked == [("qr.render.dlq.dispositions", 3)]
    assert [(record.topic, record.origin) for record in batch.records] == [("qr.render.requested", 0), ("qr.render.requested", 1), ("qr.render.requested", 2)]
    assert list(batch.rows) == [b"qr.render.dlq-3-0", b"qr.render.dlq-3-1", b"qr.render.dlq-3-2"]
    for record, (key, raw) in zip(batch.records, batch.rows.items(), strict=True):
        disposition = CODEC.decode(raw, DlqDisposition)
        assert (disposition.letter.encode(), disposition.action, disposition.generation) == (key, "replayed", 2)
        assert (disposition.target_topic, disposition.target_partition) == (record.topic, record.partition)
        assert (disposition.who, disposition.why, disposition.key_repaired) == ("ann", "repaired", False)


def test_a_discard_sends_nothing() -> None:
    producer = ScriptedProducer()
    written(producer, Order(SCOPE, None, "bob", "a test"))
    (batch,) = producer.committed
    assert batch.records == []
    disposition = CODEC.decode(batch.rows[b"qr.render.dlq-3-0"], DlqDisposition)
    assert (disposition.action, disposition.generation, disposition.target_topic, disposition.target_partition) == ("discarded", 1, None, None)


def test_a_letter_that_the_broker_finds_too_large_is_refused_alone() -> None:
    producer = ScriptedProducer(OutputTooLarge(1))
    assert written(producer, REPLAY) == ([0, 2], [(1, Refusal.too_large)])
    assert list(producer.committed[0].rows) == [b"qr.render.dlq-3-0", b"qr.render.dlq-3-2"]


def test_an_origin_that_is_not_of_the_step_ends_it() -> None:
    with pytest.raises(OutputTooLarge):
        written(ScriptedProducer(OutputTooLarge(-1)), REPLAY)


def test_an_aborted_transaction_is_written_again_and_not_for_ever() -> None:
    producer = ScriptedProducer(*[TransactionAborted("again")] * (MOST_ABORTS - 1))
    assert written(producer, REPLAY) == ([0, 1, 2], [])
    with pytest.raises(TransactionAborted):
        written(ScriptedProducer(*[TransactionAborted("again")] * MOST_ABORTS), REPLAY)


def test_a_fenced_terminal_writes_nothing_more() -> None:
    producer = ScriptedProducer(Fenced("taken over"))
    with pytest.raises(Fenced):
        written(producer, REPLAY)
    assert (producer.committed, len(producer.asked)) == ([], 1)


@pytest.mark.parametrize(("rate", "sizes"), [(None, [MOST_LETTERS, MOST_LETTERS, 50]), (10_000.0, [MOST_LETTERS, MOST_LETTERS, 50]), (100.0, [100, 100, 50]), (120.5, [100, 100, 50])])
def test_steps_are_bounded_in_number(rate: float | None, sizes: list[int]) -> None:
    order = Order(SCOPE, WAYS, "ann", None, rate)
    assert [len(step) for step in steps(order, letters(250))] == sizes


@pytest.mark.parametrize(("rate", "size"), [(3.0, 3), (1.0, 1), (0.1, 1)])
def test_a_step_is_no_larger_than_what_a_second_may_have(rate: float, size: int) -> None:
    assert {len(step) for step in steps(Order(SCOPE, WAYS, "ann", None, rate), letters(6))} == {size}


def test_steps_are_bounded_in_bytes() -> None:
    large = SETTINGS.batch_bytes // 4
    assert [len(step) for step in steps(REPLAY, letters(9, large))] == [4, 4, 1]


def test_a_letter_that_is_refused_is_told_and_in_no_step() -> None:
    poison = ReceivedLetter("qr.render.dlq", 3, 7, 1, b"k", b"no avro", (), {"reason": "undecodable", "source-topic": WAYS.requested})
    refused: list[tuple[int, Refused]] = []
    made = list(settling._steps(SETTINGS, REPLAY, iter([poison, *letters(1)]), lambda letter, why: refused.append((letter.offset, why))))
    assert [[one.letter.offset for one in step] for step in made] == [[0]]
    assert [(offset, why.code) for offset, why in refused] == [(7, Refusal.undecodable)]
