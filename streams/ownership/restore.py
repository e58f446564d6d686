"""Bring a partition's rows up to the end of its changelog.

A consumer of our own, because Faust's recovery loop waits for commit markers that are never
delivered and loses records between its fetcher and its queue (153 duplicates in 60,000 requests).
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streams import kafka_clients
from streams.ownership.append_time import append_time_ms
from streams.ownership.checkpoint import ChangelogLog, Checkpoint, reason_to_restore_in_full
from streams.ownership.errors import Abandoned, BrokerSilent
from streams.ownership.partition_rows import PartitionRows
from streams.settings import Settings

RECORDS_PER_WRITE = 5_000
"""Fewer make the WriteBatches' overhead visible, more only hold memory (a row is about 300 bytes)."""
PREFETCHED_KIB = 32 * 1024
"""Records of all partitions waiting to be applied; librdkafka's own 64 MiB for each of four partitions left a worker
with 400 MiB after a restore of 100,000 hashes."""
LEAST_PREFETCHED_KIB = 1024
SILENCE_SECONDS = 30.0
"""No record and no end of partition for this long means the broker is gone."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did: records applied, why it began at the start of the log (if it did), seconds.

    Attributes:
        append_time_ms: when the broker appended the last record applied, milliseconds since the epoch; 0 if unknown.
    """

    records: int
    full_because: str | None
    seconds: float
    append_time_ms: int


def restore(settings: Settings, rows: PartitionRows, topic: str, partition: int, log: ChangelogLog, superseded: threading.Event) -> Restored:
    """Read the changelog from the checkpoint to `log.end` into `rows`; blocking.

    `log` must have been read after fencing: no former owner can then write behind its end.
    `superseded` ends it early, when another rebalance has made the result worthless.

    Raises:
        Abandoned: superseded.
        BrokerSilent: the changelog cannot be read.
    """
    started = time.monotonic()
    now_ms = time.time_ns() // 1_000_000
    checkpoint = rows.checkpoint()
    delete_retention_ms = int(settings.changelog_delete_retention * 1000)
    full_because = reason_to_restore_in_full(checkpoint, log, now_ms, delete_retention_ms)
    if full_because is not None and checkpoint is not None:
        rows.wipe()
    begin = log.start if full_because is not None or checkpoint is None else checkpoint.offset + 1
    applied = Applied()
    if begin < log.end:
        consumer = Consumer(kafka_clients.consumer(settings, **{"queued.max.messages.kbytes": max(PREFETCHED_KIB // settings.partitions, LEAST_PREFETCHED_KIB)}))
        try:
            consumer.assign([TopicPartition(topic, partition, begin)])
            applied = _read_to_end(consumer, rows, log, superseded)
        finally:
            consumer.close()
    return Restored(applied.records, full_because, time.monotonic() - started, applied.append_time_ms)


@dataclass(slots=True)
class Applied:
    """Records applied so far, and when the broker appended the last."""

    records: int = 0
    append_time_ms: int = 0


def _read_to_end(consumer: Consumer, rows: PartitionRows, log: ChangelogLog, superseded: threading.Event) -> Applied:
    """Apply records until the fetch *position* reaches the end offset.

    Position, not delivery: the last offsets of a transactional log are commit markers, which no
    consumer ever gets. librdkafka tells the position beyond them with its end-of-partition event.
    """
    applied = Applied()
    heard = time.monotonic()
    while not superseded.is_set():
        pending: dict[bytes, bytes | None] = {}
        last: Message | None = None
        at_end = False
        for message in consumer.consume(RECORDS_PER_WRITE, 0.05):
            error = message.error()
            if error is None:
                pending[message.key() or b""] = message.value()
                last = message
                applied.records += 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # librdkafka names its local codes so
                at_end = at_end or (message.offset() or 0) >= log.end
            else:
                raise BrokerSilent(f"changelog cannot be read: {error.str()}") from KafkaException(error)
            heard = time.monotonic()
        if last is not None:
            rows.write(pending, Checkpoint(log.topic_id, last.offset() or 0, time.time_ns() // 1_000_000))
            applied.append_time_ms = append_time_ms(last) or applied.append_time_ms
        if at_end:
            return applied
        if time.monotonic() - heard > SILENCE_SECONDS:
            raise BrokerSilent(f"changelog cannot be read: silence for {SILENCE_SECONDS:.0f} s before offset {log.end}")
    raise Abandoned
