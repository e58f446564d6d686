"""How many due records a forwarder sends on in a second, and how late those of an idle one come."""

from __future__ import annotations

import statistics
import time
from hashlib import sha256
from pathlib import Path

from confluent_kafka import Message, Producer

from streams import kafka_clients
from streams.bench.stream import SILENT_SECONDS, BenchStream, MeasurementFailed
from streams.deciding.stream_headers import ATTEMPT, DUE, FIRST_ERROR, FIRST_FAILURE, GENERATION, LAST_ERROR
from streams.local_run.worker_process import WorkerProcess
from streams.settings import Settings, environment_name
from streams.topic_reader import TopicReader
from streams.topics import REQUESTED, RETRIES

DUE_RECORDS = 100_000
VALUE = b"v" * 300
"""As large as a request with a URL and an idempotency key."""
IDLE_RATE = 50
IDLE_RECORDS = 1_000
WAIT_MS = 1_000


def delay(broker: str, folder: Path, scale: float = 1.0) -> dict[str, float | int]:
    """Due records a second of one forwarder, then milliseconds from due to visible at 50 records a second.

    The due records lie ready when it starts, and are counted from the first to the last that is visible
    read_committed on the requested topic. Lateness is that of the reader, which looks every 10 ms.
    """
    count = max(2, round(DUE_RECORDS * scale))
    with BenchStream(broker, folder) as stream, TopicReader(stream.settings, [REQUESTED.full_name(stream.settings)]) as reader:
        parking = _Parking(stream.settings)
        for number in range(count):
            parking.park(number, _now_ms())
        parking.flush()
        forwarder = WorkerProcess(
            broker=broker, data_dir=stream.folder, log=stream.folder / "delay.log", command="delay",
            environment={environment_name(name): str(getattr(stream.settings, name)) for name in ("topic_prefix", "app_id", "partitions", "output_partitions", "log")},
        )
        forwarder.start()
        try:
            seconds = _seconds_of(reader, count, forwarder)
            lateness = sorted(_idle_lateness(reader, parking, max(2, round(IDLE_RECORDS * scale)), forwarder))
        finally:
            forwarder.stop()
    percentiles = statistics.quantiles(lateness, n=100)
    return {
        "due_records": count, "due_records_per_second": count / seconds,
        "idle_records": len(lateness), "idle_lateness_p50_ms": statistics.median(lateness), "idle_lateness_p99_ms": percentiles[98],
    }


class _Parking:
    """Parks records as an owner does, but one by one."""

    def __init__(self, settings: Settings) -> None:
        self._topics = [topic.full_name(settings) for topic in RETRIES]
        self._partitions = RETRIES[0].partition_count(settings)
        self._producer = Producer(kafka_clients.producer(settings), logger=kafka_clients.logger)

    def park(self, number: int, due_ms: int) -> None:
        key = sha256(number.to_bytes(8, "big")).hexdigest().encode()
        headers = [
            (GENERATION, b"0"), (ATTEMPT, b"2"), (DUE, str(due_ms).encode()),
            (FIRST_ERROR, b"store_unavailable"), (LAST_ERROR, b"store_unavailable"), (FIRST_FAILURE, str(due_ms).encode()),
        ]
        partition, topic = number % self._partitions, self._topics[number // self._partitions % len(self._topics)]
        kafka_clients.produce(self._producer, topic, VALUE, key, partition, headers=headers)
        self._producer.poll(0)

    def flush(self) -> None:
        if self._producer.flush(SILENT_SECONDS):
            raise MeasurementFailed("the broker did not take the parked records")


def _seconds_of(reader: TopicReader, count: int, forwarder: WorkerProcess) -> float:
    first = 0.0
    missing = count
    while missing > 0:
        records = _some(reader, 0.05, forwarder)
        if records:
            first = first or time.monotonic()
            missing -= len(records)
    return max(time.monotonic() - first, 1e-3)


def _idle_lateness(reader: TopicReader, parking: _Parking, count: int, forwarder: WorkerProcess) -> list[float]:
    lateness: list[float] = []
    began = time.monotonic()
    parked = 0
    while len(lateness) < count:
        while parked < count and time.monotonic() >= began + parked / IDLE_RATE:
            parking.park(parked, _now_ms() + WAIT_MS)
            parked += 1
        for record in _some(reader, 0.01, forwarder):
            due = dict(record.headers() or [])[DUE]
            lateness.append(time.time_ns() / 1e6 - int(due or 0))
    return lateness


def _some(reader: TopicReader, seconds: float, forwarder: WorkerProcess) -> list[Message]:
    """What has arrived; in vain once nothing comes or the forwarder has ended."""
    records = reader.poll(seconds)
    if not records and (forwarder.ended() is not None or time.monotonic() - reader.idle_since > SILENT_SECONDS):
        raise MeasurementFailed(f"records do not come back ({forwarder.ended()}); see {forwarder.log}")
    return records


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
