"""Notice a transaction that stays open: it hides every later record of its partition from the owners.

Who left it open cannot say so, a stopped process least of all. So each of the others looks: the forwarders in a
thread of their own, a worker from a timer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

import structlog
from confluent_kafka import IsolationLevel, KafkaException
from confluent_kafka.admin import AdminClient

from streams import kafka_clients
from streams.leader_moves import LATEST, list_offsets
from streams.settings import Settings
from streams.topics import REQUESTED, Topic

log = structlog.get_logger("streams.open_transactions")

LOOK_SECONDS = 2.0
LONG_SECONDS = 5.0
"""Half of the time after which the broker aborts it, and far more than a commit takes."""
_ANSWER_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Ends:
    """A partition's last stable offset, up to which read_committed consumers see, and its high watermark."""

    stable: int
    high: int


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """One that stays open.

    Attributes:
        seconds: how long it has been seen so; it may be older.
        hidden: offsets from its first record to the partition's end.
    """

    partition: int
    seconds: float
    stable: int
    hidden: int


class StandingEnds:
    """Which partitions' last stable offsets have stood still below their ends; no broker and no clock."""

    def __init__(self) -> None:
        self._since: dict[int, tuple[int, float]] = {}

    def look(self, ends: Mapping[int, Ends], now_s: float) -> list[OpenTransaction]:
        """Compare with the looks before; what has stood for more than LONG_SECONDS."""
        standing: list[OpenTransaction] = []
        for partition, found in ends.items():
            stable, since = self._since.get(partition, (-1, now_s))
            if found.stable >= found.high:
                self._since.pop(partition, None)
            elif found.stable != stable:
                self._since[partition] = (found.stable, now_s)
            elif now_s - since > LONG_SECONDS:
                standing.append(OpenTransaction(partition, now_s - since, stable, found.high - stable))
        return standing


class OpenTransactionAlarm:
    """Warns `transaction_open_long` while a transaction stays open, and tells when it has ended."""

    def __init__(self, settings: Settings, topic: Topic = REQUESTED) -> None:
        self._topic = topic.full_name(settings)
        self._partitions = range(topic.partition_count(settings))
        self._admin = AdminClient(kafka_clients.connection(settings), logger=kafka_clients.logger)
        self._standing = StandingEnds()
        self._open: dict[int, OpenTransaction] = {}
        self._blind = False

    def look(self) -> list[OpenTransaction]:
        """Ask the broker and warn; blocking, for a thread. What is open for long now.

        A broker that does not answer is warned of once: the alarm has nothing to say then, and others have.
        """
        try:
            ends = self._ends()
        except (KafkaException, TimeoutError) as exc:
            if not self._blind:
                log.warning("open_transactions_unknown", topic=self._topic, reason=str(exc) or "no answer")
            self._blind = True
            return list(self._open.values())
        self._blind = False
        standing = self._standing.look(ends, time.monotonic())
        for found in standing:
            log.warning(
                "transaction_open_long", topic=self._topic, partition=found.partition, seconds=round(found.seconds, 1),
                last_stable_offset=found.stable, hidden=found.hidden,
            )
        now_open = {found.partition: found for found in standing}
        for partition, was in self._open.items():
            if partition not in now_open:
                log.info("transaction_ended", topic=self._topic, partition=partition, seconds=round(was.seconds, 1))
        self._open = now_open
        return standing

    def look_until(self, stopping: threading.Event) -> None:
        """Look every LOOK_SECONDS until stopped: for a thread of its own."""
        while not stopping.wait(LOOK_SECONDS):
            self.look()

    def _ends(self) -> dict[int, Ends]:
        # The high watermark first: what is committed between the two questions must not look open.
        high = self._latest(IsolationLevel.READ_UNCOMMITTED)
        stable = self._latest(IsolationLevel.READ_COMMITTED)
        return {partition: Ends(stable[partition], high[partition]) for partition in self._partitions}

    def _latest(self, isolation: IsolationLevel) -> dict[int, int]:
        offsets = list_offsets(self._admin, ((self._topic, partition) for partition in self._partitions), LATEST, isolation, _ANSWER_SECONDS)
        return {partition: offset for (_, partition), offset in offsets.items()}
