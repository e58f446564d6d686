"""When enough has arrived to be taken."""

from __future__ import annotations

import asyncio
from typing import Any


async def let_arrive(queue: asyncio.Queue[Any], most: int) -> None:
    """Let what was fetched together arrive together, for as long as each turn of the event loop brings more.

    Faust's delivery pauses every hundred records, whatever their partition; an actor that took what was there at
    the first pause made transactions of a few dozen records, and each of those costs the broker as much as a full one.
    """
    before = -1
    while before < queue.qsize() < most:
        before = queue.qsize()
        await asyncio.sleep(0)
