"""What is fetched together is taken together, and nobody waits for what is not there."""

from __future__ import annotations

import asyncio

import pytest

from streams.faust_app.arriving import let_arrive


@pytest.mark.parametrize(("most", "there"), [(1000, 300), (300, 300), (150, 200)])
async def test_it_goes_on_while_each_turn_brings_more_and_there_is_room(most: int, there: int) -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def deliver() -> None:
        for _ in range(3):
            for number in range(100):
                queue.put_nowait(number)
            await asyncio.sleep(0)

    delivering = asyncio.ensure_future(deliver())
    await let_arrive(queue, most)
    assert queue.qsize() == there
    await delivering


async def test_an_empty_queue_costs_one_turn() -> None:
    turns: list[int] = []

    async def count() -> None:
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    await let_arrive(asyncio.Queue(), 500)
    assert len(turns) == 1
    counting.cancel()
