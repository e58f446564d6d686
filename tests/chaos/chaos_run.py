"""Random faults against two workers while requests come in: python -m tests.chaos.chaos_run SEED REQUESTS SECONDS

Every 0.5 to 3.5 s one worker is killed (-9), stopped for 1 or 9 s (the session is 6 s) or told to end; what has ended
is started again in one of three data folders, old ones included; about every third is armed to crash inside a transaction.
The publisher works half plain, half in transactions,
a fifth of which it aborts. The oracle has the last word. Prints one JSON object; exit 1 if a promise was broken.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from streams.exit_codes import RESTARTABLE
from tests.support.broker import session_broker, unique_names
from tests.support.faulty_worker import CRASHED
from tests.support.publisher import Publisher
from tests.support.stream_run import DEADLINE_S, StreamRun, Worker, stream_run
from tests.support.waiting import wait_until

FOLDERS = ("a", "b", "c")
WORKERS = 2
# A kill seldom falls between the records of a transaction and its commit, least of all on a slow machine.
ARMED_SHARE = 0.3
# Fewer make faults hit batches that only answer; more make a slow machine render for minutes after the last fault.
CONTENTS = 500
SETTLE_S = 600.0
# SIGTERM ends a worker by itself as long as Python is still importing it.
EXPECTED_ENDS = {0, CRASHED, -signal.SIGKILL, -signal.SIGTERM, *(int(code) for code in RESTARTABLE)}


@dataclass(frozen=True)
class Report:
    """What one run found; `promise_kept` sums it up."""

    seed: int
    requests: int
    outcomes: int
    lost: int
    duplicated: int
    ghosts: int
    wrong: int
    aborted: int
    redelivered: int
    abandoned: int
    renders: int
    distinct: int
    faults: dict[str, int]
    unexpected_ends: list[str]
    seconds: float
    folder: str

    @property
    def promise_kept(self) -> bool:
        """Nothing lost, doubled, invented or wrong; every content rendered once as far as outcomes tell."""
        broken = self.lost or self.duplicated or self.ghosts or self.wrong or self.unexpected_ends
        return not broken and self.outcomes == self.requests and self.renders == self.distinct


class Load(threading.Thread):
    """Publishes `total` requests over about `seconds`, in portions of very different size."""

    def __init__(self, publisher: Publisher, rnd: random.Random, total: int, seconds: float) -> None:
        super().__init__(name="load")
        self._publisher = publisher
        self._rnd = rnd
        self._total = total
        self._seconds = seconds
        self.error: BaseException | None = None
        self.stop = threading.Event()

    def run(self) -> None:
        """Until everything is published, or `stop` is set."""
        started = time.monotonic()
        try:
            published = 0
            while published < self._total and not self.stop.is_set():
                count = min(self._rnd.choice([1, 5, 50, 400]), self._total - published)
                content = [f"https://example.com/item/{self._rnd.randrange(CONTENTS)}" for _ in range(count)]
                if self._rnd.random() < 0.5:
                    self._publisher.publish(content)
                elif self._rnd.random() < 0.2:
                    self._publisher.publish(content, transaction="abort")
                    continue
                else:
                    self._publisher.publish(content, transaction="commit")
                published += count
                self.stop.wait(max(0.0, started + self._seconds * published / self._total - time.monotonic()))
        except BaseException as exc:  # noqa: BLE001  # told by the main thread
            self.error = exc


class Chaos:
    """Two running workers and the faults that befall them."""

    def __init__(self, run: StreamRun, rnd: random.Random) -> None:
        self._run = run
        self._rnd = rnd
        self._running: dict[str, Worker] = {}
        self.faults: Counter[str] = Counter()
        self.unexpected_ends: list[str] = []
        self._arming = True
        self._keep_two()

    def one_fault(self) -> None:
        """Choose a worker and a fault, and see it through.

        Only while some worker owns partitions: on a slow machine faults would otherwise only hit workers that start.
        """
        self._run.wait(self._some_worker_owns, "a worker owns partitions", DEADLINE_S)
        folder = self._rnd.choice(sorted(self._running))
        worker = self._running[folder]
        fault = self._rnd.choice(["kill", "kill", "stop", "term"])
        self.faults[fault] += 1
        if fault == "kill":
            worker.kill()
        elif fault == "term":
            worker.terminate()
        else:
            self._stop(worker)
        self._keep_two()

    def _some_worker_owns(self) -> bool:
        self._keep_two()
        pids = {worker.pid for worker in self._running.values()}
        return any(line["pid"] in pids for line in self._run.trace.events("opened"))

    def _stop(self, worker: Worker) -> None:
        worker.send(signal.SIGSTOP)
        asleep = self._rnd.choice([1, 9])
        _pass_time(asleep)
        self.faults[f"asleep {asleep} s"] += 1
        worker.send(signal.SIGCONT)

    def settle(self) -> None:
        """Keep two running until every request has its outcome."""
        self._arming = False

        def answered() -> bool:
            self._keep_two()
            return self._run.outcomes.count() >= len(self._run.publisher.expected)

        try:
            wait_until(answered, SETTLE_S, "every request has an outcome")
        except AssertionError:
            self.faults["not settled"] += 1  # the verdict says what is missing

    def _keep_two(self) -> None:
        for folder, worker in list(self._running.items()):
            if not worker.running:
                self._note_end(worker)
                del self._running[folder]
        while len(self._running) < WORKERS:
            free = [folder for folder in FOLDERS if folder not in self._running]
            folder = self._rnd.choice(free)
            armed = self._arming and self._rnd.random() < ARMED_SHARE
            crash = ("--crash-after", "4-begun", "--nth", str(self._rnd.randrange(1, 6))) if armed else ()
            self._running[folder] = self._run.start(*crash, name=folder)

    def _note_end(self, worker: Worker) -> None:
        code = worker.process.returncode
        self.faults[f"end {code}"] += 1
        if code not in EXPECTED_ENDS:
            self.unexpected_ends.append(f"{code}: {worker.log}")


def chaos(run: StreamRun, seed: int, requests: int, seconds: float) -> Report:
    """One run; the faults follow from the seed, their timing only roughly."""
    started = time.monotonic()
    rnd = random.Random(seed)
    load = Load(run.publisher, random.Random(seed + 1_000), requests, 0.8 * seconds)
    befallen = Chaos(run, rnd)
    load.start()
    while time.monotonic() - started < seconds or load.is_alive():
        _pass_time(rnd.uniform(0.5, 3.5))
        befallen.one_fault()
    load.join()
    if load.error is not None:
        raise load.error
    befallen.settle()
    verdict = run.verdict()
    return Report(
        seed=seed, requests=requests, outcomes=verdict.outcomes, lost=len(verdict.missing), duplicated=len(verdict.duplicated),
        ghosts=len(verdict.ghosts), wrong=len(verdict.wrong), aborted=verdict.aborted,
        redelivered=sum(len(line["offsets"]) for line in run.trace.events("redelivered")),
        abandoned=sum(len(line["offsets"]) for line in run.trace.events("abandoned")),
        renders=verdict.by_source["rendered"], distinct=len({e.key for e in run.publisher.expected.values()}),
        faults=dict(sorted(befallen.faults.items())), unexpected_ends=befallen.unexpected_ends,
        seconds=round(time.monotonic() - started, 1), folder=str(run.folder),
    )


def _pass_time(seconds: float) -> None:
    """The time between two faults is part of the run, not a wait for anything."""
    threading.Event().wait(seconds)


def main() -> int:
    """One run on a broker of its own, or on TEST_BROKER."""
    seed, requests, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    with session_broker(folder / "broker") as bootstrap, stream_run(bootstrap, unique_names(), folder / "stream") as run:
        report = chaos(run, seed, requests, seconds)
    sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return 0 if report.promise_kept else 1


if __name__ == "__main__":
    sys.exit(main())
