"""Records on their way to the broker: many at once, one result for each, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from processors.errors import RenderError, StreamRefused
from streams import kafka_clients
from streams.exit_codes import ExitCode
from streams.settings import Settings
from streams.topic_reader import ANSWER_SECONDS, TopicMissing, ensure_reachable, unreachable

ACKNOWLEDGED_WITHIN_SECONDS = 30.0
"""librdkafka would go on for 5 minutes; a caller who waits wants to know sooner that the broker is gone."""
IN_FLIGHT = 5_000
"""Records sent and not yet acknowledged: enough to fill every batch, and some 5 MB."""

Sent = TypeVar("Sent")


class PublishFailed(Exception):
    """The broker did not acknowledge a record; it may or may not be in the topic."""

    exit_code = ExitCode.BROKER

    def __init__(self, request_id: str, reason: str) -> None:
        super().__init__(f"request {request_id} was not acknowledged ({reason}); publish it again under the same id")
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class Outgoing(Generic[Sent]):
    """One record, and what its acknowledgement is worth.

    Attributes:
        name: what an error calls it. sent: makes the result from the partition and offset that it got.
    """

    name: str
    key: bytes
    value: bytes
    headers: Any
    sent: Callable[[int, int], Sent]


class Sender:
    """One producer for one topic, opened at the first record."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._settings = settings
        self._topic = topic
        self._producer: Producer | None = None

    def send_all(self, records: Iterable[Outgoing[Sent] | RenderError]) -> Iterator[Sent | PublishFailed | RenderError]:
        """Send without waiting for each; a refusal among the records keeps its place among the results.

        Raises:
            BrokerUnreachable, TopicMissing: nothing was sent.
        """
        producer = self._open()
        waiting: deque[_Sending[Sent]] = deque()
        for record in records:
            waiting.append(self._send(producer, record))
            producer.poll(0)
            yield from _acknowledged(producer, waiting, IN_FLIGHT)
        yield from _acknowledged(producer, waiting, 0)

    def flush(self) -> None:
        """Wait for what was sent."""
        if self._producer is not None:
            self._producer.flush(ACKNOWLEDGED_WITHIN_SECONDS)

    def _open(self) -> Producer:
        if self._producer is None:
            ensure_reachable(self._settings)
            producer = Producer(
                kafka_clients.producer(self._settings, **{"linger.ms": 2, "message.timeout.ms": int(ACKNOWLEDGED_WITHIN_SECONDS * 1000)})
            )
            # Without this a topic that is not there costs the caller a time-out, and says no more than that.
            try:
                described = producer.list_topics(self._topic, timeout=ANSWER_SECONDS).topics[self._topic]
            except KafkaException as exc:
                raise unreachable(self._settings, exc.args[0].str()) from exc
            if described.error is not None:
                raise TopicMissing(f"topic {self._topic} does not exist; `qrstream topics create` makes it (or QR_TOPIC_PREFIX names another)")
            self._producer = producer
        return self._producer

    def _send(self, producer: Producer, record: Outgoing[Sent] | RenderError) -> _Sending[Sent]:
        sending: _Sending[Sent] = _Sending(record)
        if isinstance(record, Outgoing):
            try:
                kafka_clients.produce(producer, self._topic, record.value, record.key, on_delivery=sending.delivered, headers=record.headers)
            except KafkaException as exc:
                sending.result = _refused_by_kafka(record.name, exc.args[0])
        return sending


class _Sending(Generic[Sent]):
    """A record between `produce` and its acknowledgement."""

    __slots__ = ("_record", "result")

    def __init__(self, record: Outgoing[Sent] | RenderError) -> None:
        self._record = record
        self.result: Sent | PublishFailed | RenderError | None = record if isinstance(record, RenderError) else None

    def delivered(self, error: KafkaError | None, message: Message) -> None:
        """The delivery report."""
        assert isinstance(self._record, Outgoing)
        if error is not None:
            self.result = _refused_by_kafka(self._record.name, error)
        else:
            self.result = self._record.sent(message.partition() or 0, message.offset() or 0)


def _acknowledged(producer: Producer, waiting: deque[_Sending[Sent]], at_most: int) -> Iterator[Sent | PublishFailed | RenderError]:
    """Results from the front, until no more than `at_most` are still on their way."""
    while waiting:
        result = waiting[0].result
        if result is not None:
            waiting.popleft()
            yield result
        elif len(waiting) > at_most:
            producer.poll(0.05)
        else:
            return


def _refused_by_kafka(name: str, error: KafkaError) -> PublishFailed | RenderError:
    """Too large for the topic is the record's fault for ever; everything else may pass."""
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return StreamRefused("request_too_large")
    return PublishFailed(name, error.str())
