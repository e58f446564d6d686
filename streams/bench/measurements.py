"""What `qrstream bench pipeline` measures, each with what it means."""

from __future__ import annotations

import itertools
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from confluent_kafka import Message

from schemas.events import RenderCompleted, RenderRequested
from streams.bench.delay import delay
from streams.bench.seeded_changelog import seed_changelog
from streams.bench.stream import BenchStream, MeasurementFailed, Usage, over_hashes
from streams.client import Published
from streams.event_codec import event_codec

Result = dict[str, float | int]
MIB = 1 << 20

ADDITIONS = 300_000
WARM_HASHES = 2_000
CACHED_REQUESTS = 50_000
UNIQUE_REQUESTS = 20_000
LATENCY_RATE = 200
LATENCY_SECONDS = 20
RESTART_RATE = 50
MANY_HASHES = 100_000
MANY_PARTITIONS = 64


def scaled(count: int, scale: float) -> int:
    """A part of a count, for a machine on which the whole takes too long; results say the count they had."""
    return max(1, round(count * scale))


def machine(_broker: str, _folder: Path, _scale: float = 1.0) -> Result:
    """How fast this machine is, by what every reader can repeat: additions a second in a plain Python loop.

    CPU time, best of five; a common core does 15 to 20 million. Other figures mean something beside this one.
    """
    best = 0.0
    for _ in range(5):
        began = time.process_time()
        total = 0
        for _ in range(ADDITIONS):
            total += 1
        best = max(best, total / (time.process_time() - began))
    return {"cpus": os.cpu_count() or 1, "additions_per_second": round(best)}


def cached_path(broker: str, folder: Path, scale: float = 1.0) -> Result:
    """Outcomes a second from the cache: one worker process, 4 partitions, exactly once.

    The requests lie ready when the worker starts, so that the publisher takes none of its time;
    measured from the first to the last outcome visible read_committed.
    """
    hashes = scaled(WARM_HASHES, scale)
    with BenchStream(broker, folder) as stream:
        stream.start_worker()
        stream.publish(over_hashes(hashes, hashes))
        stream.outcomes(hashes)
        stream.worker.stop()
        requests = scaled(CACHED_REQUESTS, scale)
        stream.publish(over_hashes(requests, hashes))
        stream.worker.start()
        first, last = stream.outcomes(requests)
        return {"requests": requests, "hashes": hashes, "seconds": last - first, "outcomes_per_second": requests / (last - first)}


def unique_path(broker: str, folder: Path, scale: float = 1.0) -> Result:
    """Outcomes a second where each is a render of its own, contents of some 30 characters: one worker process, 4 partitions.

    As `cached_path`; a few symbols are made first, so that no plan is.
    """
    with BenchStream(broker, folder) as stream:
        stream.start_worker()
        warm = scaled(200, scale)
        stream.publish(over_hashes(warm, warm))
        stream.outcomes(warm)
        stream.worker.stop()
        requests = scaled(UNIQUE_REQUESTS, scale)
        stream.publish(itertools.islice(over_hashes(warm + requests, warm + requests), warm, None))
        stream.worker.start()
        first, last = stream.outcomes(requests)
        return {"requests": requests, "seconds": last - first, "outcomes_per_second": requests / (last - first)}


def latency(broker: str, folder: Path, scale: float = 1.0) -> Result:
    """Milliseconds from publishing to the outcome visible read_committed, at 200 requests a second, cached."""
    hashes = scaled(WARM_HASHES, scale)
    with BenchStream(broker, folder) as stream:
        stream.start_worker()
        stream.publish(over_hashes(hashes, hashes))
        stream.outcomes(hashes)
        sent: dict[str, float] = {}
        arrived: dict[str, float] = {}
        codec = event_codec(stream.settings)

        def seen(records: list[Message]) -> None:
            now = time.monotonic()
            for record in records:
                arrived[codec.decode(record.value() or b"", RenderCompleted).request_id] = now

        count = LATENCY_RATE * LATENCY_SECONDS
        with _Publishing(stream, _paced(over_hashes(count, hashes), LATENCY_RATE, sent)):
            stream.outcomes(count, seen)
        # The first second warms connections and caches of every process on the way.
        waits = sorted((arrived[name] - sent[name]) * 1000 for name in list(sent)[LATENCY_RATE:])
        percentiles = statistics.quantiles(waits, n=100)
        return {"requests": count, "per_second": LATENCY_RATE, "p50_ms": statistics.median(waits), "p99_ms": percentiles[98], "max_ms": waits[-1]}


def restart(broker: str, folder: Path, scale: float = 1.0) -> Result:
    """Seconds from kill -9 and an immediate start to the next outcome visible, while requests come in."""
    hashes = scaled(WARM_HASHES, scale)
    with BenchStream(broker, folder) as stream:
        stream.start_worker()
        stream.publish(over_hashes(hashes, hashes))
        stream.outcomes(hashes)
        codec = event_codec(stream.settings)
        stop = threading.Event()
        endless = _paced(over_hashes(10**9, hashes), RESTART_RATE, {}, stop)
        with _Publishing(stream, endless, stop):
            stream.outcomes(RESTART_RATE)
            stream.worker.kill()
            killed, killed_ms = time.monotonic(), time.time_ns() // 1_000_000
            stream.worker.start()
            while True:
                new: list[Message] = []
                stream.outcomes(1, new.extend)
                if any(codec.decode(record.value() or b"", RenderCompleted).completed_at > killed_ms for record in new):
                    return {"seconds_to_next_outcome": time.monotonic() - killed}


def many_hashes(broker: str, folder: Path, scale: float = 1.0) -> Result:
    """Rows a second of a full restore of 100,000 hashes, and memory with all of them kept and some asked for.

    The changelog is filled by hand with rows as a worker writes them, since rendering that many takes an hour.
    """
    hashes = scaled(MANY_HASHES, scale)
    with BenchStream(broker, folder) as stream:
        seed_changelog(stream.settings, hashes)
        stream.start_worker()
        opened = stream.opened().values()
        rows = sum(int(line["restored_rows"]) for line in opened)
        seconds = max(float(line["restore_seconds"]) for line in opened)
        asked = scaled(WARM_HASHES, scale)
        stream.publish(over_hashes(asked, asked))
        stream.outcomes(asked)
        answered = Usage.of(stream.worker.pid)
        return {
            "hashes": hashes, "restored_rows": rows, "restore_seconds": seconds, "restored_rows_per_second": rows / seconds,
            "answered": asked, "memory_mib": answered.memory / MIB, "peak_memory_mib": answered.peak_memory / MIB,
        }


def many_partitions(broker: str, folder: Path, scale: float = 1.0) -> Result:
    """Threads, memory and open files of one worker that owns 64 partitions, and seconds until it does."""
    with BenchStream(broker, folder, partitions=MANY_PARTITIONS) as stream:
        seconds = stream.start_worker()
        requests = scaled(20 * MANY_PARTITIONS, scale)
        stream.publish(over_hashes(requests, requests))
        stream.outcomes(requests)
        usage = Usage.of(stream.worker.pid)
        return {"partitions": MANY_PARTITIONS, "start_seconds": seconds, "threads": usage.threads, "memory_mib": usage.memory / MIB, "open_files": usage.files}


MEASUREMENTS: dict[str, Callable[[str, Path, float], Result]] = {
    "machine": machine,
    "cached-path": cached_path,
    "unique-path": unique_path,
    "latency": latency,
    "restart": restart,
    "many-hashes": many_hashes,
    "many-partitions": many_partitions,
    "delay": delay,
}
AIMS: dict[tuple[str, str], str] = {
    ("cached-path", "outcomes_per_second"): "≥ 7,000",
    ("unique-path", "outcomes_per_second"): "≥ 2,500",
    ("latency", "p50_ms"): "≤ 12",
    ("latency", "p99_ms"): "≤ 60",
    ("restart", "seconds_to_next_outcome"): "≤ 4",
    ("many-hashes", "memory_mib"): "≤ 250",
    ("many-hashes", "restored_rows_per_second"): "≥ 100,000",
    ("delay", "due_records_per_second"): "≥ 10,000",
    ("delay", "idle_lateness_p99_ms"): "≤ 250",
}
"""Figures that the project wants to keep, on two cores."""


class _Publishing:
    """Publishes in a thread while the caller reads; what fails there is raised here."""

    def __init__(self, stream: BenchStream, requests: Iterator[RenderRequested], stop: threading.Event | None = None) -> None:
        self._stream, self._requests, self._stop = stream, requests, stop
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="publisher")

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *raised: object) -> None:
        if self._stop is not None:
            self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            for result in self._stream.client.publish_all(self._requests):
                if not isinstance(result, Published):
                    raise MeasurementFailed(f"a request could not be published: {result}")
        except Exception as exc:  # noqa: BLE001 - raised again by the caller's thread
            self._failure = exc


def _paced(requests: Iterator[RenderRequested], rate: int, sent: dict[str, float], stop: threading.Event | None = None) -> Iterator[RenderRequested]:
    """So many a second; `sent` takes the time at which each was due to leave."""
    began = time.monotonic()
    for number, request in enumerate(requests):
        if stop is not None and stop.is_set():
            return
        due = began + number / rate
        time.sleep(max(0.0, due - time.monotonic()))
        sent[request.request_id] = time.monotonic()
        yield request
