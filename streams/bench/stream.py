"""A stream of a measurement's own: topics with names nobody else has, one worker, one reader."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Message

from schemas.events import RenderRequested
from streams import topic_admin
from streams.client import Published, RenderClient, new_request
from streams.exit_codes import ExitCode
from streams.local_run.worker_process import WorkerProcess
from streams.settings import Settings, environment_name
from streams.topic_reader import TopicReader
from streams.topics import COMPLETED, FAILED

SILENT_SECONDS = 120.0
"""Without an outcome for so long a measurement has failed."""


class MeasurementFailed(Exception):
    """What was to be measured did not happen."""

    exit_code = ExitCode.INCOMPLETE


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one process, from /proc: resident memory now and at most (bytes), threads, open files."""

    memory: int
    peak_memory: int
    threads: int
    files: int

    @classmethod
    def of(cls, pid: int) -> Self:
        """Read it. Raises MeasurementFailed where there is no /proc."""
        folder = Path("/proc", str(pid))
        try:
            lines = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            files = len(list((folder / "fd").iterdir()))
        except OSError as exc:
            raise MeasurementFailed(f"the memory of process {pid} cannot be read ({exc.strerror}); this needs Linux") from exc
        kib = 1024
        return cls(int(lines["VmRSS"].split()[0]) * kib, int(lines["VmHWM"].split()[0]) * kib, int(lines["Threads"]), files)


class BenchStream:
    """Topics, client, reader and worker of one measurement; everything stopped on leaving `with`."""

    def __init__(self, broker: str, folder: Path, *, partitions: int = 4) -> None:
        unique = secrets.token_hex(4)
        self._given: dict[str, Any] = {
            "topic_prefix": f"bench-{unique}.", "app_id": f"bench-{unique}", "partitions": partitions, "output_partitions": min(partitions, 8),
            "log": "json:info",
        }
        self.folder = folder / unique
        self.settings = Settings(broker=broker, data_dir=self.folder, **self._given)
        topic_admin.create(self.settings)
        self.client = RenderClient(self.settings, source="/qrstream/bench")
        self.reader = TopicReader(self.settings, [topic.full_name(self.settings) for topic in (COMPLETED, FAILED)])
        self.worker = WorkerProcess(
            broker=broker, data_dir=self.folder / "worker", log=self.folder / "worker.log",
            environment={environment_name(name): str(value) for name, value in self._given.items()},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.worker.stop()
        self.reader.close()
        self.client.close()

    def start_worker(self) -> float:
        """Start it and wait until it owns every partition; seconds that took."""
        began = time.monotonic()
        self.worker.start()
        while len(self.opened()) < self.settings.partitions:
            if self.worker.ended() is not None or time.monotonic() - began > SILENT_SECONDS:
                raise MeasurementFailed(f"the worker opened {len(self.opened())} of {self.settings.partitions} partitions ({self.worker.ended()}); see {self.worker.log}")
            time.sleep(0.05)
        return time.monotonic() - began

    def opened(self) -> dict[int, dict[str, Any]]:
        """The worker's own lines about the requested partitions that it opened since its start; the intake's are opened with them."""
        lines = (json.loads(line) for line in self.worker.said().splitlines() if '"partition_opened"' in line)
        return {int(line["partition"]): line for line in lines if line["agent"] == "render"}

    def publish(self, requests: Iterable[RenderRequested]) -> int:
        """Publish and wait for every acknowledgement; how many."""
        count = 0
        for result in self.client.publish_all(requests):
            if not isinstance(result, Published):
                raise MeasurementFailed(f"a request could not be published: {result}")
            count += 1
        return count

    def outcomes(self, count: int, seen: Callable[[list[Message]], None] | None = None) -> tuple[float, float]:
        """Wait for `count` outcomes; monotonic times of the first and the last."""
        first = last = 0.0
        heard = time.monotonic()
        missing = count
        while missing > 0:
            records = self.reader.poll(0.05)
            now = time.monotonic()
            if records:
                first = first or now
                last = heard = now
                missing -= len(records)
                if seen is not None:
                    seen(records)
            elif now - heard > SILENT_SECONDS:
                raise MeasurementFailed(f"{missing} of {count} outcomes missing, none for {SILENT_SECONDS:.0f} s; see {self.worker.log}")
        return first, last


def content(number: int) -> str:
    """The content of that number; each has a hash of its own."""
    return f"https://example.com/bench/{number}"


def over_hashes(requests: int, hashes: int) -> Iterator[RenderRequested]:
    """Requests with ids of their own over so many contents, in turn."""
    for number in range(requests):
        yield new_request(content(number % hashes), request_id=f"{secrets.token_hex(8)}-{number}")
