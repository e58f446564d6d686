"""The loop of the forwarder: fetch, wait until the earliest is due, forward what is due in one transaction.

One thread does it all, so a rebalance is only ever seen between two transactions. Partitions change hands eagerly
(all of them are given back and taken anew): it happens when a forwarder comes or goes, costs one fetch of what was
held, and leaves one generation of the group at a time, which is what the transaction's offsets are checked against.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from streams import kafka_clients
from streams.delay.account import Account
from streams.delay.reading import read_parked
from streams.delay.schedule import Going, Place, Schedule
from streams.delay.transaction import ForwardingProducer
from streams.exit_codes import ExitCode
from streams.ownership.errors import Fenced, OutputTooLarge, OwnershipLost, TransactionAborted
from streams.settings import Settings
from streams.topic_reader import TopicMissing
from streams.topics import RETRIES

log = structlog.get_logger("streams.delay")

LONGEST_WAIT_SECONDS = 0.5
"""Of one look for records, which nothing interrupts: a stop is noticed that late."""
MOST_FETCHED = 1_000
"""Records taken at once; more would make due ones wait for the reading of those that are not."""
MOST_ABORTS = 5
"""In a row, as for an owner's batch; by then a lost membership has long been noticed."""
_FIRST_BACKOFF_SECONDS = 0.25
_LONGEST_BACKOFF_SECONDS = 4.0
_NOT_ALLOWED = frozenset({
    KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError._AUTHENTICATION,  # noqa: SLF001  # librdkafka names its local codes so
})
_TOPICS_SECONDS = 30.0
"""A topic that is gone is no emergency: its records are gone with it, and those of the others go on meanwhile."""
_NO_SUCH_TOPIC = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})  # noqa: SLF001


class ForwarderRefused(Exception):
    """The broker does not let this user read the retry topics or join the group."""

    exit_code = ExitCode.SETTINGS


def group_of(settings: Settings) -> str:
    """The consumer group of all forwarders of an application."""
    return f"{settings.app_id}-delay"


def consumer_properties(settings: Settings, instance: str) -> dict[str, Any]:
    """Of a static member (KIP-345): after kill -9 and a restart it has its partitions back at once.

    The broker also checks a static member's identity in every transaction, whatever generation it claims.
    """
    session_ms = int(settings.session_timeout * 1000)
    return kafka_clients.consumer(
        settings,
        **{
            "group.id": group_of(settings),
            "group.instance.id": instance,
            "partition.assignment.strategy": "range",
            "session.timeout.ms": session_ms,
            "heartbeat.interval.ms": max(1, min(3000, session_ms // 3)),
            "enable.partition.eof": False,
            "enable.auto.offset.store": False,
            # What is fetched ahead of the schedule's own bound: a megabyte a partition in place of 64.
            "queued.min.messages": MOST_FETCHED,
            "queued.max.messages.kbytes": 1024,
        },
    )


class Forwarder:
    """One member of the group of forwarders. Blocking; used by one thread."""

    def __init__(self, settings: Settings, instance: str, stopping: threading.Event) -> None:
        """Nothing is connected yet. `stopping` ends `run` after the transaction under way."""
        self._settings = settings
        self._stopping = stopping
        self._topics = [topic.full_name(settings) for topic in RETRIES]
        self._longest_ms = int(RETRIES[0].broker_config(settings)["retention.ms"])
        self._producer = ForwardingProducer(settings, instance)
        self._consumer = Consumer(consumer_properties(settings, instance), logger=kafka_clients.logger)
        self._schedule = Schedule()
        self._group: Any = None
        self._account = Account(time.monotonic())
        self._aborts = 0
        self._not_before = 0.0
        self._topics_seen_at = time.monotonic()

    def run(self) -> None:
        """Forward until stopped.

        Raises:
            OwnershipLost, TopicMissing, ForwarderRefused: the process must end.
        """
        self._producer.fence()
        self._consumer.subscribe(self._topics, on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked)
        while not self._stopping.is_set():
            self._fetch(self._until_due())
            if time.monotonic() >= self._not_before:
                self._forward_due()
            self._pause_and_resume()
            self._account.tell(time.monotonic(), self._schedule.held)
            self._look_for_topics()

    def close(self) -> None:
        """Leave nothing behind; what is held is in the log."""
        self._consumer.close()
        self._producer.close()
        self._account.tell_all()

    def _look_for_topics(self) -> None:
        """Not every deletion of a topic that is assigned comes back as an error of its consumer."""
        if time.monotonic() - self._topics_seen_at < _TOPICS_SECONDS:
            return
        self._topics_seen_at = time.monotonic()
        try:
            there = self._consumer.list_topics(timeout=5.0).topics
        except KafkaException:
            return  # a broker that does not answer is the client's to find again
        if missing := [topic for topic in self._topics if topic not in there]:
            raise TopicMissing(f"{', '.join(missing)} is gone; `qrstream topics create` makes it")

    def _until_due(self) -> float:
        earliest = self._schedule.earliest_ms()
        if earliest is None:
            return LONGEST_WAIT_SECONDS
        seconds = max((earliest - _now_ms()) / 1000, self._not_before - time.monotonic())
        return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)

    def _fetch(self, seconds: float) -> None:
        """Wait for one record, then take what has arrived with it.

        One call a record, though a call for many would cost less: a rebalance in the midst of that would leave records
        of the old assignment in hand, and taking one would hide those before it from the new one.
        """
        now_ms = 0
        # While records are due, as many come as go: more would only fill the queues, and what a pause then makes the
        # client drop is fetched again.
        for _ in range(MOST_FETCHED if seconds > 0 else self._settings.batch_records):
            message = self._consumer.poll(seconds)
            if message is None:
                return
            seconds, now_ms = 0.0, now_ms or _now_ms()
            error = message.error()
            if error is not None:
                _tell(error)
                continue
            place: Place = (str(message.topic()), message.partition() or 0)
            parked, oddities = read_parked(message, now_ms, self._longest_ms)
            if self._schedule.take(place, parked):
                self._account.odd(place, parked.offset, oddities)

    def _forward_due(self) -> None:
        now_ms = _now_ms()
        batch = self._schedule.due(now_ms, self._settings.batch_records, self._settings.batch_bytes)
        if not batch:
            return
        try:
            # After an abort each record is asked for: the broker's refusal of one for its size is an abort too.
            self._producer.forward(batch, self._group, now_ms, each_answer=self._aborts > 0)
        except OutputTooLarge as exc:
            place, parked = batch[exc.origin]
            if parked.going is Going.TO_DEAD_LETTERS_WITHOUT_VALUE:
                raise OwnershipLost(f"{place[0]}-{place[1]} offset {parked.offset}: key and headers alone are larger than any topic takes") from exc
            parked.going = Going(parked.going + 1)
            log.warning("parked_record_too_large", topic=place[0], partition=place[1], offset=parked.offset, going=parked.going.name.lower())
        except TransactionAborted as exc:
            self._account.aborted()
            self._aborts += 1
            if self._aborts > MOST_ABORTS:
                raise OwnershipLost(f"{self._aborts} transactions in a row were aborted: {exc}") from exc
            log.warning("transaction_aborted", reason=str(exc), records=len(batch))
            self._not_before = time.monotonic() + min(_FIRST_BACKOFF_SECONDS * 4 ** (self._aborts - 1), _LONGEST_BACKOFF_SECONDS)
        else:
            self._aborts = 0
            self._schedule.forwarded(batch)
            self._account.committed(batch, _now_ms())

    def _pause_and_resume(self) -> None:
        if full := self._schedule.to_pause():
            self._consumer.pause([TopicPartition(*place) for place in full])
        if wanted := self._schedule.to_resume():
            self._consumer.resume([TopicPartition(*place) for place in wanted])

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Begin at the group's offsets, which the broker tells once no transaction of a former owner is open on them."""
        places = [(tp.topic, tp.partition) for tp in partitions]
        consumer.assign(partitions)
        self._schedule.assign(places)
        # Now and not at the transaction: see ForwardingProducer.forward.
        self._group = consumer.consumer_group_metadata()
        self._aborts, self._not_before = 0, 0.0
        log.info("partitions_assigned", partitions=len(places))

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Forget everything held: it is in the log, behind the committed offsets."""
        if paused := self._schedule.paused():
            # In some versions of librdkafka a pause outlives its assignment (confluent-kafka-go issue 193): what is
            # assigned to us again would never be fetched.
            consumer.resume([TopicPartition(*place) for place in paused])
        self._schedule.assign([])
        self._group = None
        consumer.unassign()
        log.info("partitions_revoked", partitions=len(partitions))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _tell(error: KafkaError) -> None:
    """Warn of an error that the client mends by itself; raise the others."""
    if error.fatal():
        raise Fenced(f"another forwarder has the same instance id: {error.str()}")
    if error.code() in _NO_SUCH_TOPIC:
        raise TopicMissing(f"a retry topic is gone ({error.str()}); `qrstream topics create` makes it")
    if error.code() in _NOT_ALLOWED:
        raise ForwarderRefused(f"the broker refuses: {error.str()}; check QR_KAFKA_* and the rights of this user")
    log.warning("consumer_error", code=error.name(), reason=error.str())
