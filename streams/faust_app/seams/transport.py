"""The consumer: read_committed, position-committing, chain-keeping, and cheap to deliver with."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Callable, Coroutine, Generator
from typing import Any, NamedTuple, cast

from faust.transport.drivers import aiokafka as driver

from streams.faust_app.seams.owning_app import owning


class ChainedRecord(NamedTuple):
    """A fetched record with the offset that it continues: the one after its predecessor in the chain."""

    record: Any
    continues: int | None


class ConsumerThread(driver.AIOKafkaConsumerThread):
    """The thread in which aiokafka runs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # Partition → (fetch position after the last fetch or seek, offset after its last delivered record).
        self._chains: dict[Any, tuple[int | None, int | None]] = {}

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        # Faust ties the isolation level to its own exactly_once, which is unusable.
        consumer._isolation_level = "read_committed"
        subscription, put_position = consumer._subscription, consumer._subscription.seek

        def seek(tp: Any, offset: int) -> None:  # every seek comes through here, to committed offsets too
            self._begin_chain(tp, offset)
            put_position(tp, offset)

        subscription.seek = seek
        return consumer

    def delivered_up_to(self, tp: Any) -> int | None:
        """Offset after the last record fetched in the partition's chain; None before the first fetch."""
        return self._chains.get(tp, (None, None))[1]

    def _begin_chain(self, tp: Any, offset: int | None) -> None:
        """A chain begins where the position is put, in the same step of aiokafka's loop.

        Comparing positions before and after a fetch is not enough: a seek during the fetch would let the first
        redelivered record continue the old chain, and of two fetches that overlap at a rebalance the second
        would take what the first had fetched for a seek, and hide its loss.
        """
        self._chains[tp] = (offset, offset)

    async def _fetch_records(self, consumer: Any, active_partitions: Any, timeout: float | None = None, max_records: int | None = None) -> Any:
        def position(tp: Any) -> int | None:
            assigned = consumer._subscription.subscription  # another one after the await, at a rebalance
            state = assigned.assignment.state_value(tp) if assigned is not None and assigned.assignment is not None else None
            return state.position if state is not None and state.has_valid_position else None

        for tp in active_partitions:
            if position(tp) != self._chains.get(tp, (None, None))[0]:
                self._begin_chain(tp, position(tp))  # aiokafka itself has put it: at assignment, or after a reset
        # It takes records out of its buffer and returns in one step, so a seek lies before both or behind both.
        fetched = await super()._fetch_records(consumer, active_partitions, timeout=timeout, max_records=max_records)
        chained = {}
        # Partitions without records too: markers and aborted records move the position all the same.
        for tp in active_partitions:
            _, continues = self._chains.get(tp, (None, None))
            records = []
            for record in fetched.get(tp, ()):
                records.append(ChainedRecord(record, continues))
                continues = record.offset + 1
            if records:
                chained[tp] = records
            self._chains[tp] = position(tp), continues
        return chained


class _NoReadOffsets(defaultdict[Any, Any]):
    """Remembers nothing, so that Faust drops nothing.

    Faust drops what lies below the offset it read last, which after a seek back is the redelivery that
    the position needs. Positions make redelivery harmless.
    """

    def __getitem__(self, key: Any) -> None:
        return None


class Consumer(driver.Consumer):
    """Commits positions of ownerships, and delivers without two tasks per message."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read_offset = _NoReadOffsets(lambda: None)

    async def _seek(self, partition: Any, offset: int) -> None:
        """In the thread of aiokafka, which is not safe to use from another."""
        thread = self._thread

        async def seek_there() -> None:
            thread.seek(partition, offset)

        await thread.call_thread(seek_there)

    def _new_consumer_thread(self) -> ConsumerThread:
        return ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    def _to_message(self, tp: Any, record: ChainedRecord) -> Any:
        message: Any = super()._to_message(tp, record.record)
        message.continues = record.continues
        return message

    def _new_offset(self, tp: Any) -> int | None:
        """The open ownership's position.

        Faust's gap arithmetic advances one transaction per commit interval when the source has commit
        markers (7,476 of 8,000 events redelivered after a kill).
        """
        self._acked[tp].clear()
        self._acked_index[tp].clear()
        return owning(self.app).committable_offset(tp.topic, tp.partition)

    async def _add_gap(self, tp: Any, offset_from: int, offset_to: int) -> None:
        """Gaps are of no interest: positions are committed, not acknowledged ranges."""

    def delivered_up_to(self, tp: Any) -> int | None:
        """Offset after the last record fetched in the partition's chain; None before the first fetch."""
        return cast(ConsumerThread, self._thread).delivered_up_to(tp)

    async def wait_first(self, *coros: Any, timeout: Any = None) -> Any:
        """Deliver a message without a task while nothing has to be waited for.

        Faust's `_drain_messages` races each delivery against suspended flow, two tasks per message
        (4,000 outcomes a second instead of 11,000). A delivery that can finish at once is finished here;
        one that must wait (its queue is full) goes on in the race, so that a rebalance still ends it.
        """
        if len(coros) == len(("delivery", "suspended flow")) and self.flow_active and getattr(coros[0], "__name__", "") == "on_message":
            delivery, suspended = coros
            try:
                awaited = delivery.send(None)
            except StopIteration:
                suspended.close()
                return None
            coros = (_continued(delivery, awaited), suspended)
        return await super().wait_first(*coros, timeout=timeout)


async def _continued(coroutine: Coroutine[Any, Any, Any], awaited: Any) -> Any:
    """Go on with a coroutine that was started by hand and waits for `awaited`."""
    try:
        return await _drive(coroutine, awaited)
    finally:
        coroutine.close()


@types.coroutine
def _drive(coroutine: Coroutine[Any, Any, Any], awaited: Any) -> Generator[Any, Any, Any]:
    step: Callable[[Any], Any]
    while True:
        try:
            value = yield awaited
        except BaseException as exc:  # noqa: BLE001  # cancellation belongs to the coroutine too
            step, value = coroutine.throw, exc
        else:
            step = coroutine.send
        try:
            awaited = step(value)
        except StopIteration as done:
            return done.value


class Transport(driver.Transport):
    """Faust's aiokafka transport with our consumer."""

    Consumer = Consumer
