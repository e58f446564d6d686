"""One stream of a test: topics of its own, workers with faults, a publisher, and the oracle over it all."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streams.leader_moves import LATEST, list_offsets
from streams.settings import Settings
from streams.topics import (
    CLAIMS_CHANGELOG,
    COMPLETED,
    DEAD_LETTERS,
    FAILED,
    INTAKE,
    RENDERS_CHANGELOG,
    REQUESTED,
    TOPICS,
    Topic,
)
from tests.support.broker import Names
from tests.support.oracle import Verdict, judge
from tests.support.outcome_reader import OutcomeReader, topic_records
from tests.support.publisher import Publisher
from tests.support.trace import Trace
from tests.support.waiting import wait_until
from tests.support.warm_process import PROJECT, WarmProcess, warm_server

PARTITIONS = 4
SESSION_S = 6.0
DEADLINE_S = 240.0
"""For what takes seconds: a worker starts in 3 s, and has needed 40 on a machine whose cores others had taken."""


@dataclass
class Worker:
    """A worker process and its log."""

    process: subprocess.Popen[bytes] | WarmProcess
    log: Path
    trace: Trace

    @property
    def pid(self) -> int:
        """Of the process, and of its lines in the trace."""
        return self.process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended; a stopped one is running."""
        return self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to this process alone."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self.process.kill()
        self.process.wait(30)

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return self.wait(45)

    def wait(self, within_s: float) -> int:
        """The exit code, once it has ended by itself."""
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"worker {self.pid} has not ended within {within_s:g} s; log: {self.log}") from None

    def log_lines(self) -> list[dict[str, Any]]:
        """Structured lines of its log."""
        lines = []
        for line in self.log.read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                lines.append(json.loads(line))
        return [line for line in lines if isinstance(line, dict)]


@dataclass
class StreamRun:
    """Names, folder, processes and findings of one stream."""

    bootstrap: str
    names: Names
    folder: Path
    settings_of_all: dict[str, str] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.environment = {
            "QR_BROKER": self.bootstrap, "QR_TOPIC_PREFIX": self.names.topic_prefix, "QR_APP_ID": self.names.app_id,
            "QR_PARTITIONS": str(PARTITIONS), "QR_OUTPUT_PARTITIONS": str(PARTITIONS), "QR_SESSION_TIMEOUT": str(SESSION_S),
            "QR_COMMIT_INTERVAL": "1", "QR_LOG": "json:info", **self.settings_of_all,
        }
        self.settings = Settings(**{name.removeprefix("QR_").lower(): value for name, value in self.environment.items()})  # type: ignore[arg-type]  # strings, as from the environment
        self.trace = Trace(self.folder / "trace")
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 2})
        self.intake = INTAKE.full_name(self.settings)
        self.requested = REQUESTED.full_name(self.settings)
        self.completed = COMPLETED.full_name(self.settings)
        self.failed = FAILED.full_name(self.settings)
        self.dead_letters = DEAD_LETTERS.full_name(self.settings)
        self.changelog = RENDERS_CHANGELOG.full_name(self.settings)
        self.claims = CLAIMS_CHANGELOG.full_name(self.settings)
        self.publisher = Publisher(self.bootstrap, self.requested)

    def create_topics(self) -> None:
        """As declared in streams.topics; in other respects the broker's defaults."""
        self._create(TOPICS)

    def _create(self, topics: Iterable[Topic]) -> None:
        new = [
            NewTopic(topic.full_name(self.settings), num_partitions=topic.partition_count(self.settings), replication_factor=1, config=topic.broker_config(self.settings))
            for topic in topics
        ]
        for future in self.admin.create_topics(new, operation_timeout=30).values():
            future.result(30)

    def remake_topic(self, name: str) -> None:
        """Delete a topic and make it anew, with another UUID and nothing in it."""
        for future in self.admin.delete_topics([name], operation_timeout=30).values():
            future.result(30)
        self.wait(lambda: name not in self.admin.list_topics(timeout=30).topics, f"topic {name} is gone", 30)
        self._create([topic for topic in TOPICS if topic.full_name(self.settings) == name])

    def start(self, *faults: str, name: str = "w1", environment: dict[str, str] | None = None) -> Worker:
        """Start a worker in the data folder `name`; `faults` are options of tests.support.faulty_worker."""
        return self._start("tests.support.faulty_worker", faults, name, environment)

    def _start(self, module: str, faults: tuple[str, ...], name: str, environment: dict[str, str] | None) -> Worker:
        log = self.folder / f"{name}-{len(self.workers)}.log"
        settings = {**clean_environment(), **self.environment, "QR_DATA_DIR": str(self.folder / name), **(environment or {})}
        process = start_program(module, str(self.trace.path), *faults, environment=settings, log=log)
        self.workers.append(Worker(process, log, self.trace))
        return self.workers[-1]

    def start_forwarder(self, *faults: str, name: str = "f1", environment: dict[str, str] | None = None) -> Worker:
        """Start a delay forwarder; `faults` are options of tests.support.faulty_forwarder."""
        return self._start("tests.support.faulty_forwarder", faults, name, environment)

    def owned_by(self, worker: Worker) -> set[int]:
        """Partitions of the newest generation that a worker has opened."""
        opened = self.trace.events("opened", pid=worker.pid)
        newest = max((line["generation"] for line in opened), default=0)
        return {line["partition"] for line in opened if line["generation"] == newest}

    def wait_open(self, worker: Worker, partitions: int = PARTITIONS) -> None:
        """Until a worker owns that many partitions."""
        self.wait(lambda: len(self.owned_by(worker)) == partitions, f"worker {worker.pid} owns {partitions} partitions", DEADLINE_S, worker)

    def wait(self, condition: Callable[[], Any], what: str, within_s: float, *alive: Worker) -> Any:
        """Until a condition holds; fails at once when a worker that is needed for it has ended."""

        def checked() -> Any:
            value = condition()
            dead = [w for w in alive if not w.running]
            assert value or not dead, f"worker {dead[0].pid} ended with {dead[0].process.returncode} before: {what}; log: {dead[0].log}\n{dead[0].log.read_text()[-1500:]}"
            return value

        return wait_until(checked, within_s, what)

    @cached_property
    def outcomes(self) -> OutcomeReader:
        """The read_committed reader."""
        return OutcomeReader(self.bootstrap, self.completed, self.failed, PARTITIONS)

    @cached_property
    def group_reader(self) -> Consumer:
        """Asks for the workers' committed offsets; the admin client crashes over a coordinator that moves."""
        return Consumer({"bootstrap.servers": self.bootstrap, "group.id": self.names.app_id, "enable.auto.commit": False, "log_level": 2})

    def wait_outcomes(self, count: int, *alive: Worker, within_s: float = DEADLINE_S) -> None:
        """Until so many outcomes are visible read_committed."""
        self.wait(lambda: self.outcomes.count() >= count, f"{count} outcomes (there are {self.outcomes.count()})", within_s, *alive)

    def wait_all(self, *alive: Worker, within_s: float = DEADLINE_S) -> None:
        """Until there are as many outcomes as published request ids."""
        self.wait_outcomes(len(self.publisher.expected), *alive, within_s=within_s)

    def end(self) -> None:
        """Stop every worker: first those that can, politely."""
        for worker in self.workers:
            if worker.running:
                worker.send(signal.SIGCONT)
                worker.terminate()

    def verdict(self) -> Verdict:
        """Stop the workers, let the broker end what they left open, and judge."""
        self.end()
        self.wait_no_open_transaction()
        verdict = judge(self.publisher.expected, self.publisher.ghosts, self.outcomes.to_end())
        verdict.encoder_calls = len(self.trace.events("encoded"))
        outputs = dict.fromkeys((self.completed, self.failed, self.dead_letters), PARTITIONS)
        verdict.aborted = len(topic_records(self.bootstrap, outputs, "read_uncommitted")) - verdict.outcomes - len(self.letters())
        return verdict

    def exactly_once(self, *, renders: int) -> Verdict:
        """The verdict, once it has no faults and so many outcomes with source `rendered`."""
        verdict = self.verdict()
        assert not verdict.faults, f"{'; '.join(verdict.faults)}\n{self.rerun()}"
        assert verdict.outcomes == verdict.requests, self.rerun()
        assert verdict.by_source["rendered"] == renders, f"{verdict.by_source}\n{self.rerun()}"
        return verdict

    def in_flight(self, worker: Worker) -> set[tuple[int, int]]:
        """(partition, offset) that a worker had taken and whose transaction it had not committed."""
        reached: dict[int, int] = {}
        for line in self.trace.events("published", pid=worker.pid):
            reached[line["partition"]] = line["position"]
        return {(p, o) for p, o in self.trace.offsets("taken", pid=worker.pid) if o >= reached.get(p, 0)}

    def rerun(self) -> str:
        """How to run this again and where its traces are."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
        return f"workers' logs and trace: {self.folder}\nagain: python -m pytest -x {test!r}"

    def wait_no_open_transaction(self) -> None:
        """Until the last stable offset of each output is its end."""
        self.wait(lambda: self.stable_ends() == self.ends(), "no transaction is open", self.settings.transaction_timeout + 30)

    def stable_ends(self, topic: str | None = None) -> dict[tuple[str, int], int]:
        """Last stable offset of each partition of one topic, or of all outputs."""
        return self._offsets(topic, IsolationLevel.READ_COMMITTED)

    def ends(self, topic: str | None = None) -> dict[tuple[str, int], int]:
        """End offset of each partition."""
        return self._offsets(topic, IsolationLevel.READ_UNCOMMITTED)

    def _offsets(self, topic: str | None, isolation: IsolationLevel) -> dict[tuple[str, int], int]:
        topics = [topic] if topic else [self.completed, self.failed, self.dead_letters, self.changelog]
        return list_offsets(self.admin, ((name, p) for name in topics for p in range(PARTITIONS)), LATEST, isolation, 30)

    def committed_offsets(self, topic: str | None = None) -> dict[int, int]:
        """The group's committed offset of each partition of a source, the requested topic by default; negative where there is none."""
        wanted = [TopicPartition(topic or self.requested, p) for p in range(PARTITIONS)]
        return {tp.partition: tp.offset for tp in self.group_reader.committed(wanted, timeout=30)}

    def caught_up(self) -> bool:
        """Whether the group's offsets lie behind the last record that was published, in every partition."""
        committed = self.committed_offsets()
        return all(committed[p] > last for p, last in self.publisher.last_offsets.items())

    def group_members(self) -> int:
        """How many members the broker counts in the workers' group."""
        future = self.admin.describe_consumer_groups([self.names.app_id], request_timeout=30)[self.names.app_id]
        return len(future.result(30).members)

    def letters(self) -> list[Any]:
        """All dead letters, read_committed."""
        return topic_records(self.bootstrap, {self.dead_letters: PARTITIONS})


def start_program(module: str, *arguments: str, environment: dict[str, str], log: Path) -> subprocess.Popen[bytes] | WarmProcess:
    """Run a module as a program: forked from the warm server, or anew where the interpreter itself is to be started differently."""
    if sys.platform == "linux" and all(name.startswith("QR_") or value == os.environ.get(name) for name, value in environment.items()):
        return warm_server().start(module, *arguments, environment=environment, log=log)
    with log.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments], cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment
        )


def clean_environment() -> dict[str, str]:
    """This process's environment without settings of qrstream."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QR_")}


@contextlib.contextmanager
def stream_run(bootstrap: str, names: Names, folder: Path, **settings: str) -> Iterator[StreamRun]:
    """A stream with its topics made; whatever still runs at the end is killed, by pid, and the topics deleted."""
    folder.mkdir(parents=True, exist_ok=True)
    run = StreamRun(bootstrap, names, folder, settings)
    run.create_topics()
    try:
        yield run
    finally:
        for worker in run.workers:
            if worker.running:
                worker.kill()
        if "outcomes" in run.__dict__:
            run.outcomes.close()
        if "group_reader" in run.__dict__:
            run.group_reader.close()
        topics = [topic.full_name(run.settings) for topic in TOPICS]
        for future in run.admin.delete_topics(topics, operation_timeout=30).values():
            future.exception(30)
