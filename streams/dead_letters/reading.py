"""Read partitions of letters and dispositions from one offset to another, read_committed, never holding more than a fetch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streams import kafka_clients
from streams.leader_moves import watermarks
from streams.settings import Settings
from streams.topic_reader import ANSWER_SECONDS, TopicMissing, ensure_reachable, unreachable

_RECORDS_PER_POLL = 500
_PREFETCHED_KIB = 8 * 1024
"""Records of one partition that wait to be looked at; librdkafka's own 64 MiB bring nothing to who reads them one by one."""
_SILENCE_SECONDS = 3 * ANSWER_SECONDS


class Span(NamedTuple):
    """Offsets of one partition: the first that is there, and the one after the last that is committed."""

    start: int
    end: int


def spans(settings: Settings, topic: str) -> dict[int, Span]:
    """What each partition of a topic holds at this moment, read_committed.

    Raises:
        BrokerUnreachable: no answer.
        TopicMissing: there is no such topic.
    """
    ensure_reachable(settings)
    with _consumer(settings) as consumer:
        try:
            described = consumer.list_topics(topic, timeout=ANSWER_SECONDS).topics[topic]
            if described.error is not None or not described.partitions:
                raise TopicMissing(f"topic {topic} does not exist; `qrstream topics create` makes it (or QR_TOPIC_PREFIX, QR_APP_ID name others)")
            return {partition: _span(consumer, topic, partition) for partition in sorted(described.partitions)}
        except KafkaException as exc:
            raise unreachable(settings, exc.args[0].str()) from exc


def read(settings: Settings, topic: str, partition: int, span: Span) -> Iterator[Message]:
    """The committed records of a partition whose offsets lie in a span.

    To the *position*, not to the last record: the end of a transactional log is a commit marker, which is never
    delivered. librdkafka tells the position beyond it with its end-of-partition event.

    Raises:
        BrokerUnreachable: the records cannot be read, or silence before the end.
    """
    if span.start >= span.end:
        return
    with _consumer(settings) as consumer:
        consumer.assign([TopicPartition(topic, partition, span.start)])
        heard = time.monotonic()
        while True:
            for message in consumer.consume(_RECORDS_PER_POLL, 0.1):
                heard = time.monotonic()
                error = message.error()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001  # librdkafka names its local codes so
                    raise unreachable(settings, f"{topic} cannot be read: {error.str()}")
                if (message.offset() or 0) >= span.end:
                    return
                if error is None:
                    yield message
                    if (message.offset() or 0) == span.end - 1:
                        return
            if time.monotonic() - heard > _SILENCE_SECONDS:
                raise unreachable(settings, f"silence before offset {span.end} of {topic}-{partition}")


def read_one(settings: Settings, topic: str, partition: int, offset: int) -> Message | None:
    """The record at one offset; None if it is not there (any more), is no record, or the topic is not there.

    Raises:
        BrokerUnreachable: no answer.
    """
    try:
        there = spans(settings, topic).get(partition)
    except TopicMissing:
        return None
    if there is None or not there.start <= offset < there.end:
        return None
    return next(read(settings, topic, partition, Span(offset, offset + 1)), None)


@contextmanager
def _consumer(settings: Settings) -> Iterator[Consumer]:
    properties = {"queued.max.messages.kbytes": _PREFETCHED_KIB}
    consumer = Consumer(kafka_clients.consumer(settings, **properties), logger=kafka_clients.logger)
    try:
        yield consumer
    finally:
        consumer.close()


def _span(consumer: Consumer, topic: str, partition: int) -> Span:
    return Span(*watermarks(consumer, topic, partition, ANSWER_SECONDS))
