"""What happens to a batch whose transaction fails; the ownership is scripted, the decisions are real."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from hashlib import sha256
from typing import Any, cast

import pytest

from processors.canonical import identify
from schemas.codec import Codec
from schemas.events import MarkerRow, RenderFailed, RenderRequested
from streams.deciding.carry_out import Decider
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.in_hand import Decided, InHand, Known
from streams.deciding.micro_batch import MOST_ABORTS, run_micro_batch
from streams.ownership.batch import Batch
from streams.ownership.errors import Abandoned, OutputTooLarge, OwnershipLost, StateUnusable, TransactionAborted
from streams.ownership.expiring_rows import without_expiry
from streams.ownership.ownership import Claim, Ownership
from streams.settings import load_settings
from tests.support.in_process import InProcessRenderer, in_process_decider
from tests.support.memory_owner import MemoryOwnership

CODEC = Codec()
SETTINGS = load_settings(broker="127.0.0.1:1", partitions=1)


@pytest.fixture
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


@pytest.fixture
def executor_of_two() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def event(offset: int, *, generation: int = 3, continues: int | None = None, content: str = "x") -> DeliveredEvent:
    request = RenderRequested(request_id=f"r{offset}", content=content, requested_at=1)
    key = identify(request)[1].encode()
    return DeliveredEvent(offset, offset if continues is None else continues, generation, key, CODEC.encode(request), ())


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were asked for, none of them made."""
    asked: list[float] = []

    async def note(seconds: float) -> None:
        asked.append(seconds)

    monkeypatch.setattr("streams.deciding.micro_batch.sleep", note)
    return asked


async def run(owner: MemoryOwnership, events: list[DeliveredEvent], *, flowing: bool = True) -> bool:
    return await run_micro_batch(cast(Ownership, owner), in_process_decider(SETTINGS, CODEC), events, lambda: flowing)


def outcomes(owner: MemoryOwnership) -> list[tuple[str, int]]:
    return [(record.topic.removeprefix("qr.render."), record.origin) for batch in owner.committed for record in batch.records]


async def test_an_aborted_batch_is_decided_again_and_answered_once(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [TransactionAborted("broker restarted")])
    assert await run(owner, [event(0), event(1)])
    assert outcomes(owner) == [("completed", 0), ("completed", 1)]
    assert owner.position == 2


async def test_aborts_without_end_end_the_process(executor: Executor, pauses: list[float]) -> None:
    owner = MemoryOwnership(executor, [TransactionAborted("again") for _ in range(MOST_ABORTS)])
    with pytest.raises(OwnershipLost, match=f"{MOST_ABORTS} transactions in a row"):
        await run(owner, [event(0)])
    assert owner.committed == []
    assert pauses == [0.2, 0.4, 0.8, 1.6]


async def test_aborts_of_different_transactions_do_not_add_up(executor: Executor) -> None:
    nearly: list[BaseException | None] = [TransactionAborted("again")] * (MOST_ABORTS - 1)
    owner = MemoryOwnership(executor, [*nearly, None, *nearly, None])
    one_each = in_process_decider(load_settings(broker="127.0.0.1:1", partitions=1, batch_seconds=1e-9), CODEC)
    assert await run_micro_batch(cast(Ownership, owner), one_each, [event(0), event(1)], lambda: True)
    assert [batch.position for batch in owner.committed] == [1, 2]


async def test_an_output_too_large_fails_its_own_request_only(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [OutputTooLarge(1)])
    assert await run(owner, [event(0), event(1), event(2)])
    assert outcomes(owner) == [("completed", 0), ("failed", 1), ("dlq", 1), ("completed", 2)]
    failed = next(record for record in owner.committed[0].records if record.topic.endswith("failed"))
    assert CODEC.decode(failed.value, RenderFailed).error_code == "output_too_large"


async def test_a_dead_letter_too_large_is_no_loop(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [OutputTooLarge(0), OutputTooLarge(0)])
    with pytest.raises(StateUnusable, match=r"dead letter of offset 0 .* topics check"):
        await run(owner, [event(0)])


async def test_a_letter_refused_for_its_size_goes_without_the_value_and_says_where_it_lies(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [OutputTooLarge(0)])
    undecodable = DeliveredEvent(0, 0, 3, b"key", b"no avro", (("trace", b"1"),))
    assert await run(owner, [undecodable])
    [letter] = owner.committed[0].records
    headers = dict(letter.headers or [])
    assert (letter.topic, letter.key, letter.value) == ("qr.render.dlq", b"key", None)
    assert headers["trace"] == b"1"
    assert headers["qr-dlq-reason"] == b"undecodable"
    assert headers["qr-dlq-value-sha256"] == sha256(b"no avro").hexdigest().encode()
    assert (headers["qr-dlq-source-offset"], headers["qr-dlq-content-length"]) == (b"0", b"7")


async def test_a_letter_of_usual_size_has_every_byte(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [])
    assert await run(owner, [DeliveredEvent(0, 0, 3, b"key", b"no avro", ())])
    [letter] = owner.committed[0].records
    assert letter.value == b"no avro"
    assert "qr-dlq-value-sha256" not in dict(letter.headers or [])


async def test_events_of_another_generation_are_left_to_its_owner(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [])
    assert await run(owner, [event(0, generation=2), event(0), event(1, generation=4)])
    assert outcomes(owner) == [("completed", 0)]


async def test_nothing_behind_a_skip_is_decided(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [])
    assert not await run(owner, [event(0), event(5, continues=5), event(6)])
    assert outcomes(owner) == [("completed", 0)]
    assert owner.position == 1


async def test_a_suspended_flow_abandons_what_is_left(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [])
    with pytest.raises(Abandoned):
        await run(owner, [event(0)], flowing=False)
    assert owner.committed == []


async def test_a_batch_of_redelivered_events_commits_nothing(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [])
    owner.position = 9
    assert await run(owner, [event(7), event(8)])
    assert owner.committed == []


async def test_a_repeat_inside_one_batch_is_dropped_and_the_position_goes_on(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [])
    first = event(0)
    repeat = DeliveredEvent(1, 1, 3, first.key, first.value, ())
    assert await run(owner, [first, repeat])
    assert outcomes(owner) == [("completed", 0)]
    assert owner.position == 2
    markers: list[Any] = [CODEC.decode(without_expiry(row), MarkerRow) for key, row in owner.rows.items() if key.startswith(b"request/")]
    assert [(marker.outcome, marker.attempt) for marker in markers] == [("completed", 1)]


async def test_partitions_take_turns_in_deciding(executor_of_two: Executor) -> None:
    both_inside = threading.Barrier(2)
    met: list[bool] = []

    class Watched(Decider):
        def decide_events(self, events: Sequence[DeliveredEvent], batch: Batch, claim: Claim, known: Known, in_hand: InHand) -> Decided:
            try:
                both_inside.wait(0.5)
            except threading.BrokenBarrierError:
                met.append(False)
            else:
                met.append(True)
            return super().decide_events(events, batch, claim, known, in_hand)

    plain = in_process_decider(SETTINGS, CODEC)
    decider = Watched(SETTINGS, CODEC, plain.side_effects, plain.journal)
    owners = [MemoryOwnership(executor_of_two, partition=number) for number in range(2)]
    await asyncio.gather(*(run_micro_batch(cast(Ownership, owner), decider, [event(0), event(1)], lambda: True) for owner in owners))
    assert len(met) >= 2
    assert not any(met)
    assert [owner.position for owner in owners] == [2, 2]


async def test_a_batch_whose_flow_ends_while_it_waits_for_its_turn_is_abandoned(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [])
    decider = in_process_decider(SETTINGS, CODEC)
    flows = True
    decider.turn.acquire()
    waiting = asyncio.ensure_future(run_micro_batch(cast(Ownership, owner), decider, [event(0)], lambda: flows))
    await asyncio.sleep(0)
    flows = False
    decider.turn.release()
    with pytest.raises(Abandoned):
        await waiting
    assert (owner.position, owner.committed) == (0, [])


async def test_what_was_rendered_for_a_transaction_that_was_aborted_is_not_rendered_again(executor: Executor) -> None:
    owner = MemoryOwnership(executor, [TransactionAborted("broker restarted")])
    renderer = InProcessRenderer()
    decider = in_process_decider(SETTINGS, CODEC, renderer)
    assert await run_micro_batch(cast(Ownership, owner), decider, [event(0), event(1, content="y")], lambda: True)
    assert outcomes(owner) == [("completed", 0), ("completed", 1)]
    assert renderer.rendered == 2


async def test_renders_that_take_longer_than_a_batch_may_are_not_thrown_away(executor: Executor) -> None:
    owner = MemoryOwnership(executor)
    renderer = InProcessRenderer(seconds=0.05)
    slow = in_process_decider(load_settings(broker="127.0.0.1:1", partitions=1, batch_seconds=0.12), CODEC, renderer)
    assert await run_micro_batch(cast(Ownership, owner), slow, [event(number, content=str(number)) for number in range(12)], lambda: True)
    assert outcomes(owner) == [("completed", number) for number in range(12)]
    assert renderer.rendered == 12
    assert len(owner.committed) > 1
