"""Forwarders of one test, a publisher that parks records as an owner does, and a count of what came back."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient

from processors.partitioner import partition_for
from streams import topic_admin
from streams.deciding.stream_headers import ATTEMPT, DUE, FIRST_ERROR, FIRST_FAILURE, GENERATION, LAST_ERROR
from streams.settings import Settings
from streams.topics import DEAD_LETTERS, REQUESTED, RETRIES, TOPICS
from tests.support.broker import Names
from tests.support.outcome_reader import Isolation, topic_records
from tests.support.stream_run import DEADLINE_S, Worker, clean_environment, start_program
from tests.support.trace import Trace
from tests.support.waiting import wait_until

PARTITIONS = 4
RETRY_PARTITIONS = 8
CREATE_TIME, APPEND_TIME = 1, 2


@dataclass(frozen=True, slots=True)
class Sent:
    """One parked record as the test parked it."""

    topic: int
    partition: int
    due_ms: int
    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


@dataclass
class DelayRun:
    """Names, folder, processes and findings of one stream's forwarders."""

    bootstrap: str
    names: Names
    folder: Path
    settings_of_all: dict[str, str]
    forwarders: list[Worker] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.environment = {
            "QR_BROKER": self.bootstrap, "QR_TOPIC_PREFIX": self.names.topic_prefix, "QR_APP_ID": self.names.app_id,
            "QR_PARTITIONS": str(PARTITIONS), "QR_OUTPUT_PARTITIONS": "1", "QR_SESSION_TIMEOUT": "6", "QR_LOG": "json:info", **self.settings_of_all,
        }
        self.settings = Settings(**{name.removeprefix("QR_").lower(): value for name, value in self.environment.items()})  # type: ignore[arg-type]  # strings, as from the environment
        self.trace = Trace(self.folder / "trace")
        self.requested = REQUESTED.full_name(self.settings)
        self.dead_letters = DEAD_LETTERS.full_name(self.settings)
        self._owner = Producer({
            "bootstrap.servers": self.bootstrap, "transactional.id": f"owner-{self.names.app_id}", "log_level": 2,
            "message.max.bytes": 8 << 20, "compression.type": "lz4",
        })
        self._owner.init_transactions(30)

    def park(self, count: int, *, due_ms: Iterable[int], in_one_transaction: int = 25) -> None:
        """Park records as owners do, in small transactions: the log has commit markers between the records."""
        for place, due in zip(range(count), due_ms, strict=True):
            number = len(self.sent)
            if place % in_one_transaction == 0:
                self._owner.begin_transaction()
            value = f"request {number}".encode()
            key = hashlib.sha256(value).hexdigest().encode()
            headers = (
                ("traceparent", b"00-ab"), (GENERATION, b"0"), (ATTEMPT, b"2"), (DUE, str(due).encode()),
                (FIRST_ERROR, b"store_unavailable"), (LAST_ERROR, b"render_timeout"), (FIRST_FAILURE, b"1700000000000"),
            )
            one = Sent(number % len(RETRIES), number * 7 % RETRY_PARTITIONS, due, key, value, headers)
            self.produce(one)
            self.sent.append(one)
            if place % in_one_transaction == in_one_transaction - 1 or place == count - 1:
                self._owner.commit_transaction(30)

    def produce(self, one: Sent) -> None:
        """Hand one record to the owner's producer, inside its transaction."""
        topic = RETRIES[one.topic].full_name(self.settings)
        self._owner.produce(topic, one.value, one.key or None, one.partition, headers=list(one.headers))

    def park_one(self, one: Sent, *, comes_back: bool = True) -> None:
        """Park any record, in a transaction of its own."""
        self._owner.begin_transaction()
        self.produce(one)
        self._owner.commit_transaction(30)
        if comes_back:
            self.sent.append(one)

    def delete_topic(self, name: str) -> None:
        """Delete a topic, by its name behind the prefix."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 2})
        for future in admin.delete_topics([self.names.topic_prefix + name], operation_timeout=30).values():
            future.result(30)

    def start(self, *faults: str, name: str = "f1", environment: dict[str, str] | None = None) -> Worker:
        """Start a forwarder in the data folder `name`; `faults` are options of tests.support.faulty_forwarder."""
        log = self.folder / f"{name}-{len(self.forwarders)}.log"
        settings = {**clean_environment(), **self.environment, "QR_DATA_DIR": str(self.folder / name), **(environment or {})}
        process = start_program("tests.support.faulty_forwarder", str(self.trace.path), *faults, environment=settings, log=log)
        self.forwarders.append(Worker(process, log, self.trace))
        return self.forwarders[-1]

    def wait_assigned(self, forwarder: Worker, partitions: int) -> None:
        """Until a forwarder's newest assignment has so many partitions."""
        wait_until(
            lambda: (found := self.trace.events("assigned", pid=forwarder.pid)) and found[-1]["partitions"] == partitions,
            DEADLINE_S, f"forwarder {forwarder.pid} has {partitions} partitions; log: {forwarder.log}",
        )

    def forwarded_by(self, forwarder: Worker) -> int:
        """Records in transactions that a forwarder knows to be committed."""
        return sum(line["records"] for line in self.trace.events("forwarded", pid=forwarder.pid))

    def back(self, isolation: Isolation = "read_committed") -> list[Message]:
        """Everything on the requested topic."""
        return topic_records(self.bootstrap, {self.requested: PARTITIONS}, isolation)

    def wait_back(self, count: int, *alive: Worker, within_s: float = DEADLINE_S) -> None:
        """Until so many records are visible read_committed; at once in vain when a forwarder that is needed has ended."""

        def there() -> bool:
            dead = [one for one in alive if not one.running]
            assert not dead, f"forwarder ended with {dead[0].process.returncode}; {dead[0].log.read_text()[-1500:]}"
            return len(self.back()) >= count

        wait_until(there, within_s, f"{count} records are back; logs: {self.folder}")

    def end(self) -> None:
        """Stop every forwarder, those that sleep too."""
        for forwarder in self.forwarders:
            if forwarder.running:
                forwarder.kill()

    def faults(self) -> list[str]:
        """What is wrong with what came back: missing, twice, changed, early, in the wrong place, out of order."""
        back = self.back()
        sent = {one.value: (number, one) for number, one in enumerate(self.sent)}
        counts = Counter(message.value() for message in back)
        found = [f"missing: {one.value!r}" for one in self.sent if counts[one.value] == 0]
        found += [f"{count} times: {value!r}" for value, count in counts.items() if count != 1]
        newest: dict[tuple[int, int, int], int] = {}
        for message in back:
            value = message.value()
            assert isinstance(value, bytes)
            number, one = sent[value]
            if message.key() != one.key or tuple(message.headers() or ()) != one.headers:
                found.append(f"changed: {one.value!r}")
            if message.partition() != partition_for(one.key, PARTITIONS):
                found.append(f"in the wrong partition: {one.value!r}")
            kind, appended_ms = message.timestamp()
            assert kind == APPEND_TIME
            if appended_ms < one.due_ms:
                found.append(f"{one.due_ms - appended_ms} ms early: {one.value!r}")
            way = (one.topic, one.partition, message.partition() or 0)
            if newest.get(way, -1) > number:
                found.append(f"out of order: {one.value!r}")
            newest[way] = number
        return found


def now_ms() -> int:
    """Of the wall clock, as owners stamp due times."""
    return time.time_ns() // 1_000_000


def log_events(forwarder: Worker, event: str) -> list[dict[str, Any]]:
    """Lines of one kind in a forwarder's log."""
    return [line for line in forwarder.log_lines() if line.get("event") == event]


@contextlib.contextmanager
def delay_run(bootstrap: str, names: Names, folder: Path, **settings: str) -> Iterator[DelayRun]:
    """Topics made; whatever still runs at the end is killed, by pid, and the topics deleted."""
    folder.mkdir(parents=True, exist_ok=True)
    run = DelayRun(bootstrap, names, folder, settings)
    topic_admin.create(run.settings)
    try:
        yield run
    finally:
        run.end()
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
        for future in admin.delete_topics([topic.full_name(run.settings) for topic in TOPICS], operation_timeout=30).values():
            future.exception(30)
