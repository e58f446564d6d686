"""Questions to the broker, asked again while a partition or a group changes its leader.

A topic just made, a broker that went away or stood still beyond its session with the controller: for some hundred
milliseconds a partition has no leader, or one that the client does not know yet. librdkafka leaves asking again to its
caller.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

EARLIEST: Final[Any] = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: Final[Any] = OffsetSpec.latest()  # type: ignore[no-untyped-call]
_LEADER_MOVES: Final = frozenset({
    KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.REPLICA_NOT_AVAILABLE,
    # The client's epoch of the leader is older, or newer, than the broker's (KIP-320).
    KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,  # a new leader that has not caught up with the former one's high watermark
    # The same of a group's coordinator, which leads a partition of the offsets topic.
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.NOT_COORDINATOR,
    # While a broker is fenced, its metadata names the topic and no partition that could be asked.
    KafkaError._UNKNOWN_PARTITION, KafkaError._NOENT,  # noqa: SLF001  # librdkafka names its local codes so
    KafkaError._TRANSPORT, KafkaError._TIMED_OUT,  # noqa: SLF001  # librdkafka names its local codes so
})
Answer = TypeVar("Answer")
_AGAIN_SECONDS: Final = 0.1
"""An election takes 50 ms or more; asking faster only wakes the broker."""


def until_led(client: AdminClient | Consumer, ask: Callable[[float], Answer], within_seconds: float) -> Answer:
    """What `ask` returns, given the seconds that are left; asked again of a client with fresh metadata while leaders move.

    Raises:
        KafkaException: no answer in time, or an error that asking again does not mend.
    """
    deadline = time.monotonic() + within_seconds
    while True:
        try:
            return ask(max(1.0, deadline - time.monotonic()))
        except KafkaException as exc:
            if exc.args[0].code() not in _LEADER_MOVES or time.monotonic() + _AGAIN_SECONDS > deadline:
                raise
        time.sleep(_AGAIN_SECONDS)
        # Offsets are asked under the leader's epoch in the client's cache, which no refusal makes it renew.
        with contextlib.suppress(KafkaException):
            client.list_topics(timeout=max(1.0, deadline - time.monotonic()))


def watermarks(consumer: Consumer, topic: str, partition: int, within_seconds: float) -> tuple[int, int]:
    """First offset that is there, and the end; for a read_committed consumer the end is the last stable offset.

    Raises:
        KafkaException: no answer in time, or an error that asking again does not mend.
    """

    def ask(seconds: float) -> tuple[int, int]:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=seconds)
        return low, high

    return until_led(consumer, ask, within_seconds)


def list_offsets(
    admin: AdminClient, partitions: Iterable[tuple[str, int]], spec: OffsetSpec, isolation: IsolationLevel, within_seconds: float
) -> dict[tuple[str, int], int]:
    """The offset of each partition that `spec` names (KIP-396): earliest, latest.

    Raises:
        KafkaException: no answer in time, or an error that asking again does not mend.
        TimeoutError: no answer in time.
    """
    wanted = {TopicPartition(*tp): spec for tp in partitions}
    if not wanted:
        return {}

    def ask(seconds: float) -> dict[tuple[str, int], int]:
        futures = admin.list_offsets(wanted, isolation_level=isolation, request_timeout=seconds)
        return {(tp.topic, tp.partition): int(future.result(seconds).offset) for tp, future in futures.items()}

    return until_led(admin, ask, within_seconds)
