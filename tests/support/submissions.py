"""Submitting as a stranger does: a plain producer in any form, and what must come of it by docs/intake.md alone.

Nothing of `processors` or `schemas` is imported: were both wrong in the same way, the tests would see nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from tests.support import plain_avro
from tests.support.independent_hash import content_hash
from tests.support.publisher import ACKNOWLEDGED_WITHIN_S, Expected, request

Header = tuple[str, bytes | None]
JSON: list[Header] = [("content-type", b"application/json")]
AVRO: list[Header] = [("content-type", b"application/avro")]
DEFAULTS = {"tenant": "default", **{name: value for name, value in request("", "").items() if name not in ("request_id", "requested_at", "content")}}


def record_key(fields: dict[str, Any]) -> bytes:
    """Tenant NUL idempotency key."""
    return f"{fields.get('tenant', 'default')}\0{fields['idempotency_key']}".encode()


def as_json(fields: dict[str, Any]) -> bytes:
    """A JSON submission with the given members and no others; bytes travel as base64."""
    members = dict(fields)
    if isinstance(content := members.get("content"), bytes):
        del members["content"]
        members["content_base64"] = base64.b64encode(content).decode()
    return json.dumps(members, ensure_ascii=False).encode()


def as_avro(fields: dict[str, Any]) -> bytes:
    """An Avro submission in single-object encoding, defaults filled in."""
    return plain_avro.encode("RenderSubmitted", {**DEFAULTS, "content": "", "requested_at": None, **fields})


def expected(fields: dict[str, Any], error: str | None = None) -> Expected:
    """The outcome of a submission that is forwarded: its id is made of the content hash and the key."""
    content = fields["content"]
    key = content_hash({**DEFAULTS, **fields})
    request_id = f"{key}-{hashlib.sha256(record_key(fields)).hexdigest()[:16]}"
    return Expected(request_id, key, content.encode() if isinstance(content, str) else content, error)


@dataclass(frozen=True, slots=True)
class Submitted:
    """One record for the intake."""

    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    partition: int | None = None


def json_record(fields: dict[str, Any], *, partition: int | None = None) -> Submitted:
    """A JSON submission under its right key."""
    return Submitted(record_key(fields), as_json(fields), tuple(JSON), partition)


def avro_record(fields: dict[str, Any], *, partition: int | None = None) -> Submitted:
    """An Avro submission under its right key."""
    return Submitted(record_key(fields), as_avro(fields), tuple(AVRO), partition)


@dataclass
class Submitter:
    """Publishes to one intake topic.

    Attributes:
        last_offsets: offset of the last record that was acknowledged, by partition.
    """

    bootstrap: str
    topic: str
    partitioner: str = "murmur2_random"
    last_offsets: dict[int, int] = field(default_factory=dict)
    _failures: list[str] = field(default_factory=list)
    _opened: Producer | None = None

    def publish(self, records: Iterable[Submitted]) -> None:
        """Send records in order and wait until all are acknowledged."""
        producer = self._producer()
        for record in records:
            self.send(record)
        left = producer.flush(ACKNOWLEDGED_WITHIN_S)
        assert not left, f"{left} submissions were not acknowledged"
        assert not self._failures, self._failures[:3]

    def send(self, record: Submitted) -> None:
        """Hand one record to the producer; its acknowledgement is waited for by the next `publish`."""
        producer = self._producer()
        place: dict[str, Any] = {} if record.partition is None else {"partition": record.partition}
        while True:
            try:
                producer.produce(self.topic, record.value, record.key, headers=list(record.headers), on_delivery=self._acknowledged, **place)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)

    def _acknowledged(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failures.append(error.str())
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        self.last_offsets[partition] = max(offset, self.last_offsets.get(partition, -1))

    def _producer(self) -> Producer:
        if self._opened is None:
            self._opened = Producer({
                "bootstrap.servers": self.bootstrap, "partitioner": self.partitioner, "enable.idempotence": True,
                "message.max.bytes": 3 << 20, "linger.ms": 1, "log_level": 2,
            })
        return self._opened
