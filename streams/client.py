"""Publish render requests and read their outcomes, from any Python program.

    with RenderClient() as client:
        outcomes = client.outcomes(until_idle=10)
        sent = client.publish(new_request("https://example.com", format="svg"))
        completed = next(outcome for outcome in outcomes if outcome.request_id == sent.request_id)

Nothing here runs in a worker, and nothing of a worker is imported.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from processors.canonical import identify, invalid_key
from processors.errors import RenderError, RequestRefused, StreamRefused
from processors.spec import check_envelope, validate
from schemas import cloudevents
from schemas.codec import UndecodableError
from schemas.errors import EncodeError
from schemas.events import RenderCompleted, RenderFailed, RenderRequested
from streams import kafka_clients
from streams.event_codec import event_codec
from streams.exit_codes import ExitCode
from streams.settings import Settings, load_settings
from streams.topic_reader import ANSWER_SECONDS, TopicMissing, TopicReader, ensure_reachable, unreachable
from streams.topics import COMPLETED, FAILED, REQUESTED

__all__ = ["Outcomes", "PublishFailed", "Published", "RenderClient", "new_request"]

Outcome = RenderCompleted | RenderFailed

ACKNOWLEDGED_WITHIN_SECONDS = 30.0
"""librdkafka would go on for 5 minutes; a caller who waits wants to know sooner that the broker is gone."""
IN_FLIGHT = 5_000
"""Requests sent and not yet acknowledged by `publish_all`: enough to fill every batch, and some 5 MB."""


@dataclass(frozen=True, slots=True)
class Published:
    """A request that the broker has acknowledged.

    Attributes:
        key: the content hash, or the key of a request that has no canonical form.
        content_hash: names the result; None where the request is going to fail as invalid.
    """

    request_id: str
    tenant: str
    key: str
    content_hash: str | None
    partition: int
    offset: int


class PublishFailed(Exception):
    """The broker did not acknowledge a request; it may or may not be in the topic."""

    exit_code = ExitCode.BROKER

    def __init__(self, request_id: str, reason: str) -> None:
        super().__init__(f"request {request_id} was not acknowledged ({reason}); publish it again under the same id")
        self.request_id = request_id


def new_request(content: str | bytes, **fields: Any) -> RenderRequested:
    """A request with a new id (UUID 4) and the present time, unless `fields` has others."""
    return RenderRequested(
        content=content,
        **{"request_id": str(uuid.uuid4()), "requested_at": time.time_ns() // 1_000_000, **fields},
    )


def key_of(request: RenderRequested, *, tenants_apart: bool = False) -> tuple[str, str | None]:
    """The record's key and the content hash; the hash is None where validity fails before it.

    `tenants_apart` is what the workers are set to: QR_ISOLATION=tenant.
    """
    try:
        check_envelope(request)
        content_hash = identify(request, tenants_apart=tenants_apart)[1]
    except RequestRefused:
        return invalid_key(request.request_id), None
    return content_hash, content_hash


class RenderClient:
    """One producer, opened at the first request; as many readers as asked for."""

    def __init__(self, settings: Settings | None = None, *, source: str = "/qrstream/client") -> None:
        """`settings` are those of the environment by default; `source` is the events' ce_source."""
        self.settings = settings or load_settings()
        self._source = source
        self._codec = event_codec(self.settings)
        self._topic = REQUESTED.full_name(self.settings)
        self._producer: Producer | None = None
        self._readers: list[TopicReader] = []

    def publish(self, request: RenderRequested) -> Published:
        """Send one request and wait until every in-sync replica has it.

        A request with wrong values is sent too: its outcome is a failed event.

        Raises:
            RenderError: it cannot be sent: Avro cannot hold a value (an unpaired surrogate), or it is too large.
            PublishFailed: no acknowledgement.
            BrokerUnreachable, TopicMissing: nothing was sent.
        """
        result = next(self.publish_all([request]))
        if isinstance(result, Exception):
            raise result
        return result

    def publish_all(self, requests: Iterable[RenderRequested]) -> Iterator[Published | PublishFailed | RenderError]:
        """Send many requests without waiting for each; one result for each, in order, failures as values.

        Raises:
            BrokerUnreachable, TopicMissing: nothing was sent.
        """
        producer = self._open_producer()
        waiting: deque[_Sending] = deque()
        for request in requests:
            waiting.append(self._send(producer, request))
            producer.poll(0)
            yield from _acknowledged(producer, waiting, IN_FLIGHT)
        yield from _acknowledged(producer, waiting, 0)

    def outcomes(self, *, from_beginning: bool = False, until_idle: float | None = None) -> Outcomes:
        """Completed and failed events, read_committed, from this call on (or from the topics' beginning).

        Call it before publishing. Iteration ends after `until_idle` seconds without an event, or never.

        Raises:
            BrokerUnreachable, TopicMissing: nothing can be read.
        """
        reader = TopicReader(self.settings, [topic.full_name(self.settings) for topic in (COMPLETED, FAILED)], from_beginning=from_beginning)
        self._readers.append(reader)
        return Outcomes(self.settings, reader, until_idle)

    def close(self) -> None:
        """Wait for what was sent, and close the readers."""
        if self._producer is not None:
            self._producer.flush(ACKNOWLEDGED_WITHIN_SECONDS)
        for reader in self._readers:
            reader.close()
        self._readers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def _open_producer(self) -> Producer:
        if self._producer is None:
            ensure_reachable(self.settings)
            producer = Producer(
                kafka_clients.producer(self.settings, **{"linger.ms": 2, "message.timeout.ms": int(ACKNOWLEDGED_WITHIN_SECONDS * 1000)})
            )
            # Without this a topic that is not there costs the caller a time-out, and says no more than that.
            try:
                described = producer.list_topics(self._topic, timeout=ANSWER_SECONDS).topics[self._topic]
            except KafkaException as exc:
                raise unreachable(self.settings, exc.args[0].str()) from exc
            if described.error is not None:
                raise TopicMissing(f"topic {self._topic} does not exist; `qrstream topics create` makes it (or QR_TOPIC_PREFIX names another)")
            self._producer = producer
        return self._producer

    def _send(self, producer: Producer, request: RenderRequested) -> _Sending:
        key, content_hash = key_of(request, tenants_apart=self.settings.isolation == "tenant")
        sending = _Sending(request, key, content_hash)
        try:
            value = self._codec.encode(request)
        except EncodeError as exc:
            sending.result = _unheld(request, exc)
            return sending
        headers: Any = cloudevents.headers(request, self._source)
        try:
            kafka_clients.produce(producer, self._topic, value, key.encode(), on_delivery=sending.delivered, headers=headers)
        except KafkaException as exc:
            sending.result = _refused_by_kafka(request, exc.args[0])
        return sending


def _acknowledged(producer: Producer, waiting: deque[_Sending], at_most: int) -> Iterator[Published | PublishFailed | RenderError]:
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


def _refused_by_kafka(request: RenderRequested, error: KafkaError) -> PublishFailed | RenderError:
    """Too large for the topic is the request's fault for ever; everything else may pass."""
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return StreamRefused("request_too_large")
    return PublishFailed(request.request_id, error.str())


def _unheld(request: RenderRequested, error: EncodeError) -> RequestRefused:
    """The refusal of a request that has no Avro form: by the code that the worker would give it."""
    try:
        validate(request)
    except RequestRefused as refusal:
        return refusal
    return RequestRefused("invalid_option", f"Avro cannot hold the request: {error}; correct the field")


class _Sending:
    """A request between `produce` and its acknowledgement."""

    __slots__ = ("_content_hash", "_key", "_request", "result")

    def __init__(self, request: RenderRequested, key: str, content_hash: str | None) -> None:
        self._request, self._key, self._content_hash = request, key, content_hash
        self.result: Published | PublishFailed | RenderError | None = None

    def delivered(self, error: KafkaError | None, message: Message) -> None:
        """The delivery report."""
        request = self._request
        if error is not None:
            self.result = _refused_by_kafka(request, error)
        else:
            self.result = Published(
                request.request_id, request.tenant, self._key, self._content_hash, message.partition() or 0, message.offset() or 0
            )


class Outcomes:
    """An iterator of decoded outcomes; made by `RenderClient.outcomes`."""

    def __init__(self, settings: Settings, reader: TopicReader, until_idle: float | None) -> None:
        self._codec = event_codec(settings)
        self._completed = COMPLETED.full_name(settings)
        self._reader = reader
        self._until_idle = until_idle
        self._pending: deque[Message] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Outcome:
        """The next outcome.

        Raises:
            UndecodableError: a record of the outcome topics is no outcome; iteration may go on behind it.
            BrokerUnreachable: the client has given up on the broker.
        """
        return self.next_record()[1]

    def next_record(self) -> tuple[Message, Outcome]:
        """The next outcome with the record that carried it; StopIteration after the idle time."""
        while not self._pending:
            if self._until_idle is not None and time.monotonic() - self._reader.idle_since >= self._until_idle:
                raise StopIteration
            self._pending.extend(self._reader.poll(0.1))
        message = self._pending.popleft()
        return message, self.decode(message)

    def poll(self, seconds: float) -> list[tuple[Message, Outcome]]:
        """What arrives within `seconds`; an empty list when nothing did."""
        return [(message, self.decode(message)) for message in self._reader.poll(seconds)]

    def decode(self, message: Message) -> Outcome:
        """The outcome in a record. Raises UndecodableError with the record's place."""
        raw = message.value() or b""
        try:
            if message.topic() == self._completed:
                return self._codec.decode(raw, RenderCompleted)
            return self._codec.decode(raw, RenderFailed)
        except UndecodableError as exc:
            raise UndecodableError(f"{message.topic()}-{message.partition()}@{message.offset()}: {exc.reason}") from exc
