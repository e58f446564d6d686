"""Readers of a stream's topics, apart from the product's: one read_committed, one read_uncommitted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from tests.support import plain_avro

Isolation = Literal["read_committed", "read_uncommitted"]
SILENCE_S = 30.0
MOVED = {KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH}


def topic_records(bootstrap: str, topics: dict[str, int], isolation: Isolation = "read_committed") -> list[Message]:
    """Every record of topics (name: partitions) from their start to their present end."""
    reader = _Reader(bootstrap, topics, isolation)
    try:
        return reader.to_end()
    finally:
        reader.close()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One event of the completed or failed topic."""

    kind: Literal["completed", "failed"]
    fields: dict[str, Any]
    key: bytes | None
    headers: tuple[tuple[str, str | bytes | None], ...]


class OutcomeReader:
    """Follows the completed and failed topics while the stream runs."""

    def __init__(self, bootstrap: str, completed: str, failed: str, partitions: int, isolation: Isolation = "read_committed") -> None:
        self._completed = completed
        self._reader = _Reader(bootstrap, {completed: partitions, failed: partitions}, isolation)
        self._messages: list[Message] = []
        self._decoded: list[Outcome] = []

    def count(self) -> int:
        """How many outcomes have been seen; reads what has arrived, without waiting."""
        self._messages += self._reader.arrived()
        return len(self._messages)

    def to_end(self) -> list[Outcome]:
        """All outcomes up to the topics' present end."""
        self._messages += self._reader.to_end()
        self._decoded += [self._outcome(message) for message in self._messages[len(self._decoded):]]
        return self._decoded

    def close(self) -> None:
        """Let go of the connection."""
        self._reader.close()

    def _outcome(self, message: Message) -> Outcome:
        completed = message.topic() == self._completed
        value = message.value()
        assert isinstance(value, bytes)
        fields = plain_avro.decode("RenderCompleted" if completed else "RenderFailed", value)
        key = message.key()
        assert key is None or isinstance(key, bytes)
        headers = message.headers()
        assert headers is None or isinstance(headers, list)
        return Outcome("completed" if completed else "failed", fields, key, tuple(headers or ()))


class _Reader:
    def __init__(self, bootstrap: str, topics: dict[str, int], isolation: Isolation) -> None:
        self._partitions = [(topic, p) for topic, count in topics.items() for p in range(count)]
        self._consumer = Consumer({
            "bootstrap.servers": bootstrap, "group.id": "oracle", "isolation.level": isolation, "enable.auto.commit": False,
            "enable.partition.eof": True, "auto.offset.reset": "earliest", "fetch.wait.max.ms": 100, "log_level": 2,
        })
        self._ended: dict[tuple[str | None, int | None], int] = {}
        self._consumer.assign([TopicPartition(topic, p, 0) for topic, p in self._partitions])

    def arrived(self) -> list[Message]:
        return self._take(0.02)

    def to_end(self) -> list[Message]:
        """Up to the end offsets of this moment.

        By end-of-partition events, not by the last record's offset: the end may lie behind commit markers
        and aborted records, which are never delivered.
        """
        ends = {tp: self._end(*tp) for tp in self._partitions}
        read: list[Message] = []
        heard = time.monotonic()
        while any(self._ended.get(tp, -1) < end for tp, end in ends.items()):
            taken = self._take(0.2)
            read += taken
            heard = time.monotonic() if taken else heard
            assert time.monotonic() - heard < SILENCE_S, f"ends {ends} are not reached: {self._ended}"
        return read

    def close(self) -> None:
        self._consumer.close()

    def _end(self, topic: str, partition: int) -> int:
        """The end offset; with read_committed the last stable one."""
        deadline = time.monotonic() + SILENCE_S
        while True:
            try:
                watermarks = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), SILENCE_S)
            except KafkaException as exc:
                # A topic just made, or a broker that stood still for its session: the leader is told anew.
                if exc.args[0].code() not in MOVED or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                assert watermarks is not None, f"{topic}-{partition} has no leader"
                return int(watermarks[1])

    def _take(self, seconds: float) -> list[Message]:
        taken = []
        for message in self._consumer.consume(10_000, seconds):
            error = message.error()
            if error is None:
                taken.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended[message.topic(), message.partition()] = message.offset() or 0
            else:
                raise AssertionError(f"reading failed: {error.str()}")
        return taken
