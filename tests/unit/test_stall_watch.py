"""Going back for records that were fetched and never came to their actor."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from streams.faust_app.seek_back import MOST_SEEKS, PATIENCE_SECONDS, RecordsSkipped, SeekBack
from streams.faust_app.stall_watch import StallWatch


class Partition(NamedTuple):
    topic: str
    partition: int


TP = Partition("requested", 2)


class FetchingConsumer:
    """Says how far it has fetched, and remembers where it was sought to."""

    def __init__(self) -> None:
        self.fetched: int | None = 60
        self.sought: list[tuple[Any, int]] = []

    def delivered_up_to(self, _tp: Any) -> int | None:
        return self.fetched

    async def seek(self, tp: Any, offset: int) -> None:
        self.sought.append((tp, offset))


@pytest.fixture
def consumer() -> FetchingConsumer:
    return FetchingConsumer()


@pytest.fixture
def back(consumer: FetchingConsumer) -> SeekBack:
    return SeekBack(SimpleNamespace(consumer=consumer))


@pytest.fixture
def watch(consumer: FetchingConsumer, back: SeekBack) -> StallWatch:
    return StallWatch(SimpleNamespace(consumer=consumer), back)


@pytest.fixture
def after(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    clock = [1000.0]
    monkeypatch.setattr("streams.faust_app.seek_back.time.monotonic", lambda: clock[0])

    def pass_seconds(seconds: float) -> None:
        clock[0] += seconds

    return pass_seconds


def owner(position: int, generation: int = 1) -> Any:
    return SimpleNamespace(position=position, closed=False, claim=SimpleNamespace(generation=generation))


async def test_records_fetched_and_not_decided_by_the_second_look_are_read_again(watch: StallWatch, consumer: FetchingConsumer) -> None:
    await watch.look({TP: owner(50)})
    assert consumer.sought == []
    await watch.look({TP: owner(50)})
    assert consumer.sought == [(TP, 50)]


async def test_a_position_that_moves_is_left_alone(watch: StallWatch, consumer: FetchingConsumer) -> None:
    for position in (50, 55, 59):
        await watch.look({TP: owner(position)})
    assert consumer.sought == []


async def test_a_partition_with_nothing_left_is_left_alone(watch: StallWatch, consumer: FetchingConsumer) -> None:
    for _ in range(3):
        await watch.look({TP: owner(60)})
    consumer.fetched = None
    for _ in range(3):
        await watch.look({TP: owner(0)})
    assert consumer.sought == []


async def test_a_long_batch_is_no_stall(watch: StallWatch, consumer: FetchingConsumer) -> None:
    await watch.look({TP: owner(50)})
    watch.begins(TP)
    await watch.look({TP: owner(50)})
    watch.ends(TP)
    await watch.look({TP: owner(50)})
    assert consumer.sought == []
    await watch.look({TP: owner(50)})
    assert consumer.sought == [(TP, 50)]


async def test_a_new_generation_at_the_same_position_is_no_stall(watch: StallWatch, consumer: FetchingConsumer) -> None:
    await watch.look({TP: owner(50, generation=1)})
    await watch.look({TP: owner(50, generation=2)})
    assert consumer.sought == []


async def test_events_still_on_their_way_do_not_seek_twice(back: SeekBack, consumer: FetchingConsumer, after: Callable[[float], None]) -> None:
    await back.to_position(TP, owner(50))
    await back.to_position(TP, owner(50))
    assert consumer.sought == [(TP, 50)]
    after(PATIENCE_SECONDS)
    await back.to_position(TP, owner(50))
    assert consumer.sought == [(TP, 50), (TP, 50)]


async def test_seeking_in_vain_ends_and_names_the_records(back: SeekBack, after: Callable[[float], None]) -> None:
    for _ in range(MOST_SEEKS):
        await back.to_position(TP, owner(50))
        after(PATIENCE_SECONDS)
    with pytest.raises(RecordsSkipped, match="requested-2 from offset 50"):
        await back.to_position(TP, owner(50))


async def test_seeks_that_helped_are_forgotten(back: SeekBack, after: Callable[[float], None], consumer: FetchingConsumer) -> None:
    for _ in range(2 * MOST_SEEKS):
        await back.to_position(TP, owner(50))
        back.settled(TP)
        after(PATIENCE_SECONDS)
    assert len(consumer.sought) == 2 * MOST_SEEKS
