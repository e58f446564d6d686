"""Read topics from one moment on, read_committed, with an end that can be recognised.

No consumer group: whoever reads sees every partition, keeps no offsets on the broker and disturbs nobody.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streams import kafka_clients
from streams.exit_codes import ExitCode
from streams.leader_moves import watermarks
from streams.settings import Settings

ANSWER_SECONDS = 10.0
"""A broker that is there answers metadata in milliseconds; one that is elected anew, in a few seconds."""
_RECORDS_PER_POLL = 500


class BrokerUnreachable(Exception):
    """The broker does not answer; the message is one line that says which and what to do."""

    exit_code = ExitCode.BROKER


class TopicMissing(Exception):
    """A topic that is to be read does not exist."""

    exit_code = ExitCode.TOPICS


class TopicReader:
    """Records of all partitions of some topics; not safe to share between threads.

    Attributes:
        idle_since: monotonic seconds when the last record came, or the reading began.
    """

    def __init__(self, settings: Settings, topics: Sequence[str], *, from_beginning: bool = False, partition: int | None = None) -> None:
        """Fix where reading begins before returning: whatever is committed later is seen.

        Raises:
            BrokerUnreachable: no answer within ANSWER_SECONDS.
            TopicMissing: one of the topics does not exist.
        """
        ensure_reachable(settings)
        self._settings = settings
        self._consumer = Consumer(kafka_clients.consumer(settings))
        try:
            assigned = [
                TopicPartition(topic, number, self._first(topic, number, from_beginning))
                for topic in topics
                for number in self._partitions(topic, partition)
            ]
            self._consumer.assign(assigned)
        except BaseException:
            self._consumer.close()
            raise
        self._unfinished = {(place.topic, place.partition) for place in assigned}
        self.idle_since = time.monotonic()

    def poll(self, seconds: float) -> list[Message]:
        """The records that arrive within `seconds`, or fewer seconds when there are some at once.

        Raises:
            BrokerUnreachable: the client has given up on the broker.
        """
        records: list[Message] = []
        for message in self._consumer.consume(_RECORDS_PER_POLL, seconds):
            error = message.error()
            if error is None:
                records.append(message)
                self.idle_since = time.monotonic()
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's name of its public code
                self._unfinished.discard((message.topic() or "", message.partition() or 0))
            elif error.fatal() or not error.retriable():
                raise BrokerUnreachable(f"cannot read {message.topic()}: {error.str()}")
        return records

    def to_end(self) -> Iterator[Message]:
        """Every record up to the end of each partition as it is met.

        Raises:
            BrokerUnreachable: silence for three times ANSWER_SECONDS before the end.
        """
        heard = time.monotonic()
        while self._unfinished:
            left = len(self._unfinished)
            records = self.poll(0.1)
            yield from records
            if records or len(self._unfinished) < left:
                heard = time.monotonic()
            elif time.monotonic() - heard > 3 * ANSWER_SECONDS:
                raise unreachable(self._settings, "silence before the end of a topic")

    def close(self) -> None:
        """Let go of the connections."""
        self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def _partitions(self, topic: str, only: int | None) -> list[int]:
        try:
            described = self._consumer.list_topics(topic, timeout=ANSWER_SECONDS).topics[topic]
        except KafkaException as exc:
            raise unreachable(self._settings, exc.args[0].str()) from exc
        if described.error is not None or not described.partitions:
            raise TopicMissing(f"topic {topic} does not exist; `qrstream topics create` makes it (or QR_TOPIC_PREFIX, QR_APP_ID name others)")
        if only is None:
            return sorted(described.partitions)
        if only not in described.partitions:
            raise TopicMissing(f"{topic} has no partition {only}; `qrstream topics check` says what does not fit")
        return [only]

    def _first(self, topic: str, partition: int, from_beginning: bool) -> int:
        try:
            # The end is the last stable offset: a transaction that is open now is read when it commits.
            low, high = watermarks(self._consumer, topic, partition, ANSWER_SECONDS)
        except KafkaException as exc:
            raise unreachable(self._settings, exc.args[0].str()) from exc
        return low if from_beginning else high


def ensure_reachable(settings: Settings) -> None:
    """Return when one of the brokers takes a connection; librdkafka would wait ANSWER_SECONDS for what is refused at once.

    Raises:
        BrokerUnreachable: no broker is set, or none takes a connection.
    """
    reasons: list[str] = []
    for address in (settings.broker or "").split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS).close()
        except OSError as exc:
            reasons.append(exc.strerror or str(exc))
        except ValueError:
            reasons.append(f"{address!r} is not host:port")
        else:
            return
    raise unreachable(settings, "; ".join(dict.fromkeys(reasons)))


def unreachable(settings: Settings, reason: str) -> BrokerUnreachable:
    """One line for a broker that does not answer."""
    if settings.broker is None:
        return BrokerUnreachable("no broker is set; set QR_BROKER=host:port (`qrstream up` prints it), or run `qrstream up`")
    return BrokerUnreachable(f"{settings.broker} does not answer ({reason}); start the broker, or correct QR_BROKER")
