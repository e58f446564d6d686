"""What the broker says when partitions are opened: topic UUIDs, log starts and ends, group offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from streams import kafka_clients
from streams.leader_moves import EARLIEST, LATEST, list_offsets, until_led
from streams.ownership.checkpoint import ChangelogLog
from streams.ownership.errors import BrokerSilent
from streams.settings import Settings

ANSWER_SECONDS = 30.0
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class SourceLog:
    """A source partition: first offset still there, last stable one, and the group's committed offset if there is one."""

    start: int
    end: int
    group_offset: int | None


class BrokerFacts:
    """Reads facts with one admin client; blocking."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._admin = AdminClient(kafka_clients.connection(settings))

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        """UUID of each topic (KIP-516).

        Raises:
            BrokerSilent: the broker does not answer.
        """
        wanted = TopicCollection(sorted(set(topics)))

        def ask(seconds: float) -> dict[str, str]:
            futures = self._admin.describe_topics(wanted, request_timeout=seconds)
            return {topic: str(future.result(seconds).topic_id) for topic, future in futures.items()}

        return self._answer(ask, "topics cannot be described")

    def changelog_logs(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], ChangelogLog]:
        """Start and read_committed end of changelog partitions; call it after fencing their writers."""
        wanted = list(partitions)
        ids = self.topic_ids(topic for topic, _ in wanted)
        starts = self._offsets(wanted, EARLIEST)
        ends = self._offsets(wanted, LATEST)
        return {tp: ChangelogLog(ids[tp[0]], starts[tp], ends[tp]) for tp in wanted}

    def source_logs(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], SourceLog]:
        """Start, end and group offset of source partitions."""
        wanted = list(partitions)
        starts = self._offsets(wanted, EARLIEST)
        ends = self._offsets(wanted, LATEST)
        if not wanted:
            return {}
        committed = self._group_offsets(wanted)
        return {tp: SourceLog(starts[tp], ends[tp], committed[tp]) for tp in wanted}

    def _offsets(self, partitions: list[tuple[str, int]], spec: OffsetSpec) -> dict[tuple[str, int], int]:
        def ask(seconds: float) -> dict[tuple[str, int], int]:
            return list_offsets(self._admin, partitions, spec, IsolationLevel.READ_COMMITTED, seconds)

        return self._answer(ask, f"offsets of {', '.join(sorted({topic for topic, _ in partitions}))} cannot be read")

    def _group_offsets(self, partitions: list[tuple[str, int]]) -> dict[tuple[str, int], int | None]:
        # Not the admin client's list_consumer_group_offsets: an answer NOT_COORDINATOR ends the process there with a
        # segmentation fault (librdkafka takes a consumer group for granted, which an admin client does not have).
        consumer = Consumer(kafka_clients.group_reader(self._settings), logger=kafka_clients.logger)
        wanted = [TopicPartition(*tp) for tp in partitions]

        def ask(seconds: float) -> dict[tuple[str, int], int | None]:
            told = consumer.committed(wanted, timeout=seconds)
            for tp in told:
                if tp.error is not None:
                    raise KafkaException(tp.error)
            # A partition without a committed offset is answered with a negative one.
            return {(tp.topic, tp.partition): tp.offset if tp.offset >= 0 else None for tp in told}

        try:
            return self._answer(ask, "group offsets cannot be read")
        finally:
            consumer.close()

    def _answer(self, ask: Callable[[float], Answer], failure: str) -> Answer:
        try:
            return until_led(self._admin, ask, ANSWER_SECONDS)
        except KafkaException as exc:
            raise BrokerSilent(f"{failure}: {exc.args[0].str()}") from exc
        except TimeoutError as exc:
            raise BrokerSilent(f"{failure}: no answer within {ANSWER_SECONDS:.0f} s") from exc
