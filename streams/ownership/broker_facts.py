"""What the broker says when partitions are opened: topic UUIDs, log starts and ends, group offsets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from streams import kafka_clients
from streams.ownership.checkpoint import ChangelogLog
from streams.ownership.errors import BrokerSilent
from streams.settings import Settings

ANSWER_SECONDS = 30.0
EARLIEST: Any = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class SourceLog:
    """A source partition: first offset still there, last stable one, and the group's committed offset if there is one."""

    start: int
    end: int
    group_offset: int | None


class BrokerFacts:
    """Reads facts with one admin client; blocking."""

    def __init__(self, settings: Settings) -> None:
        self._group = settings.app_id
        self._admin = AdminClient(kafka_clients.connection(settings))

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        """UUID of each topic (KIP-516).

        Raises:
            BrokerSilent: the broker does not answer.
        """
        wanted = sorted(set(topics))
        futures = self._admin.describe_topics(TopicCollection(wanted), request_timeout=ANSWER_SECONDS)
        return {topic: str(_answer(future, f"topic {topic} cannot be described").topic_id) for topic, future in futures.items()}

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
        request = ConsumerGroupTopicPartitions(self._group, [TopicPartition(*tp) for tp in wanted])
        future = self._admin.list_consumer_group_offsets([request], request_timeout=ANSWER_SECONDS)[self._group]
        committed = {(tp.topic, tp.partition): tp.offset for tp in _answer(future, "group offsets cannot be read").topic_partitions}
        # A partition without a committed offset is answered with a negative one.
        return {tp: SourceLog(starts[tp], ends[tp], offset if (offset := committed.get(tp, -1)) >= 0 else None) for tp in wanted}

    def _offsets(self, partitions: list[tuple[str, int]], spec: Any) -> dict[tuple[str, int], int]:
        if not partitions:
            return {}
        futures = self._admin.list_offsets(
            {TopicPartition(*tp): spec for tp in partitions},
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout=ANSWER_SECONDS,
        )
        return {(tp.topic, tp.partition): int(_answer(future, f"offsets of {tp.topic} cannot be read").offset) for tp, future in futures.items()}


def _answer(future: Any, failure: str) -> Any:
    try:
        return future.result(ANSWER_SECONDS)
    except KafkaException as exc:
        raise BrokerSilent(f"{failure}: {exc.args[0].str()}") from exc
    except TimeoutError as exc:
        raise BrokerSilent(f"{failure}: no answer within {ANSWER_SECONDS:.0f} s") from exc
