"""What every agent does with its stream: one actor per owned partition, one transaction per micro-batch."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from streams.deciding.batch_decider import BatchDecider
from streams.deciding.delivery import DeliveredEvent
from streams.deciding.micro_batch import run_micro_batch, tend
from streams.delay.open_transactions import LOOK_SECONDS as ALARM_SECONDS
from streams.delay.open_transactions import OpenTransactionAlarm
from streams.faust_app.app import app, deciders
from streams.faust_app.arriving import let_arrive
from streams.faust_app.endings import ending_with_exit_code
from streams.faust_app.seek_back import SeekBack
from streams.faust_app.stall_watch import LOOK_SECONDS, StallWatch
from streams.ownership.errors import Abandoned
from streams.ownership.ownership import CHORES_SECONDS

log = structlog.get_logger(__name__)
seek_back = SeekBack(app)
stall_watch = StallWatch(app, seek_back)
open_transactions = OpenTransactionAlarm(app.settings)


async def run(stream: Any, decider: BatchDecider) -> None:
    """Take what has arrived, carry it out under the partition's ownership, acknowledge it."""
    events = stream.noack()
    async for first in events.events():
        await let_arrive(events.channel.queue, app.settings.batch_records)
        taken = take(first, events.channel.queue, app.settings.batch_records)  # 1
        tp = first.message.tp
        stall_watch.begins(tp)
        try:
            with ending_with_exit_code():
                await carry_out(taken, decider)  # 2 to 5
        except Abandoned:
            log.info("batch_abandoned", topic=tp.topic, partition=tp.partition, events=len(taken))
        finally:
            stall_watch.ends(tp)
        await acknowledge(events, first)  # 6


@app.timer(LOOK_SECONDS)  # type: ignore[untyped-decorator]
async def look_for_stalls() -> None:
    """Partitions whose records were fetched and never reached their actor are read again."""
    owned = {tp: owner for tp in app.consumer.assignment() if (owner := app.owner_of(tp)) is not None}
    with ending_with_exit_code():
        await stall_watch.look(owned)


@app.timer(ALARM_SECONDS)  # type: ignore[untyped-decorator]
async def look_for_open_transactions() -> None:
    """What somebody else has left open hides records of ours."""
    await asyncio.get_running_loop().run_in_executor(app.owners.executor, open_transactions.look)


@app.timer(CHORES_SECONDS)  # type: ignore[untyped-decorator]
async def tend_idle_partitions() -> None:
    """What is to be done without an event asking for it; a partition at work does it with its events."""
    idle = [owner for owner in app.owners.all() if not owner.closed and not stall_watch.at_work(owner.claim.source, owner.claim.partition)]
    with ending_with_exit_code():
        done = await asyncio.gather(*(tend(owner, deciders[owner.claim.agent], app.flow_control.is_active) for owner in idle), return_exceptions=True)
        for failure in done:
            if isinstance(failure, BaseException) and not isinstance(failure, Abandoned):
                raise failure


def take(first: Any, queue: asyncio.Queue[Any], most: int) -> list[Any]:
    """Step 1: the event that woke the actor and what else is there, without waiting."""
    taken = [first]
    while len(taken) < most:
        try:
            taken.append(queue.get_nowait())
        except asyncio.QueueEmpty:
            break
    return taken


async def carry_out(taken: list[Any], decider: BatchDecider) -> None:
    """Steps 2 to 5, under the ownership that is open now; a skip seeks back to its position."""
    message = taken[0].message
    owner = app.owner_of(message.tp)
    if owner is None:
        raise Abandoned
    delivered = [_delivered(event.message) for event in taken]
    before = owner.position
    continued = await run_micro_batch(owner, decider, delivered, app.flow_control.is_active)
    if owner.position > before:
        seek_back.settled(message.tp)
    if not continued:
        await seek_back.to_position(message.tp, owner)


def _delivered(message: Any) -> DeliveredEvent:
    return DeliveredEvent(
        message.offset, message.continues, message.generation_id, message.key, message.value,
        tuple(message.headers or ()), round(message.timestamp * 1000),
    )


async def acknowledge(events: Any, first: Any) -> None:
    """Step 6, for an abandoned batch too, or the next rebalance would wait for it for ever.

    Faust tracks the event that its stream has given, and none of those drained behind it. One acknowledged offset
    is enough to have the partition committed, with the position of its ownership.
    """
    await events.ack(first)
