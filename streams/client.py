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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Message

from processors.canonical import identify, invalid_key
from processors.errors import RenderError, RequestRefused
from processors.intake import forwarded_id, refused_id
from processors.spec import OutputFields, check_envelope, normalise, output_fields, validate
from processors.submission import read_submission
from schemas import cloudevents
from schemas.codec import UndecodableError
from schemas.errors import EncodeError
from schemas.events import RenderCompleted, RenderFailed, RenderRequested, RenderSubmitted
from streams.event_codec import event_codec
from streams.sending import Outgoing, PublishFailed, Sender
from streams.settings import Settings, load_settings
from streams.topic_reader import TopicReader
from streams.topics import COMPLETED, FAILED, INTAKE, REQUESTED

__all__ = ["Outcomes", "PublishFailed", "Published", "RenderClient", "Submitted", "new_request", "new_submission"]

_AVRO = b"application/avro"

Outcome = RenderCompleted | RenderFailed

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


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission that the broker has acknowledged.

    Attributes:
        request_id: of its outcome if this payload is the first under its key, or the same again; another payload's
            outcome is a failed event under an id of its own, with this idempotency key.
        content_hash: names the result; None where the submission is going to fail as invalid.
    """

    idempotency_key: str
    tenant: str
    request_id: str
    content_hash: str | None
    partition: int
    offset: int


def new_request(content: str | bytes, **fields: Any) -> RenderRequested:
    """A request with a new id (UUID 4) and the present time, unless `fields` has others."""
    return RenderRequested(
        content=content,
        **{"request_id": str(uuid.uuid4()), "requested_at": time.time_ns() // 1_000_000, **fields},
    )


def new_submission(idempotency_key: str, content: str | bytes, **fields: Any) -> RenderSubmitted:
    """A submission with the present time, unless `fields` has another."""
    return RenderSubmitted(idempotency_key=idempotency_key, content=content, **{"requested_at": time.time_ns() // 1_000_000, **fields})


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
    """A producer for each of the two doors, opened at the first record; as many readers as asked for."""

    def __init__(self, settings: Settings | None = None, *, source: str = "/qrstream/client") -> None:
        """`settings` are those of the environment by default; `source` is the events' ce_source."""
        self.settings = settings or load_settings()
        self._source = source
        self._codec = event_codec(self.settings)
        self._requests = Sender(self.settings, REQUESTED.full_name(self.settings))
        self._submissions = Sender(self.settings, INTAKE.full_name(self.settings))
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
        yield from self._requests.send_all(map(self._request_record, requests))

    def submit(self, submission: RenderSubmitted) -> Submitted:
        """Send one submission to the intake and wait until every in-sync replica has it.

        Sending it again, after a PublishFailed or a crash of the caller, changes nothing: its key names the intent.

        Raises:
            RenderError: it cannot be sent: Avro cannot hold a value, its tenant or key is no name, or it is too large.
            PublishFailed: no acknowledgement.
            BrokerUnreachable, TopicMissing: nothing was sent.
        """
        result = next(self.submit_all([submission]))
        if isinstance(result, Exception):
            raise result
        return result

    def submit_all(self, submissions: Iterable[RenderSubmitted]) -> Iterator[Submitted | PublishFailed | RenderError]:
        """Send many submissions without waiting for each; one result for each, in order, failures as values.

        Raises:
            BrokerUnreachable, TopicMissing: nothing was sent.
        """
        yield from self._submissions.send_all(map(self._submission_record, submissions))

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
        self._requests.flush()
        self._submissions.flush()
        for reader in self._readers:
            reader.close()
        self._readers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def _request_record(self, request: RenderRequested) -> Outgoing[Published] | RenderError:
        key, content_hash = key_of(request, tenants_apart=self.settings.isolation == "tenant")
        try:
            value = self._codec.encode(request)
        except EncodeError as exc:
            return _unheld(exc, lambda: validate(request))

        def sent(partition: int, offset: int) -> Published:
            return Published(request.request_id, request.tenant, key, content_hash, partition, offset)

        return Outgoing(request.request_id, key.encode(), value, cloudevents.headers(request, self._source), sent)

    def _submission_record(self, submission: RenderSubmitted) -> Outgoing[Submitted] | RenderError:
        try:
            value = self._codec.encode(submission)
        except EncodeError as exc:
            return _unheld(exc, lambda: normalise(OutputFields(*output_fields(submission))))
        arrival = read_submission(
            value, _AVRO, partition=0, partitions=self.settings.partitions, generation=0, rerouted=False, codec=self._codec,
            tenants_apart=self.settings.isolation == "tenant",
        )
        identity, content_hash = arrival.identity, arrival.content_hash
        if identity is None:  # without a name there is nothing that its outcome could be found by
            return arrival.problem or RequestRefused("invalid_option")
        request_id = refused_id(arrival.fingerprint, identity) if content_hash is None else forwarded_id(content_hash, identity)

        def sent(partition: int, offset: int) -> Submitted:
            return Submitted(identity.idempotency_key, identity.tenant, request_id, content_hash, partition, offset)

        return Outgoing(submission.idempotency_key, identity.key, value, [("content-type", _AVRO)], sent)


def _unheld(error: EncodeError, check: Callable[[], object]) -> RequestRefused:
    """The refusal of what has no Avro form: by the code that the worker would give it."""
    try:
        check()
    except RequestRefused as refusal:
        return refusal
    return RequestRefused("invalid_option", f"Avro cannot hold the request: {error}; correct the field")


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
