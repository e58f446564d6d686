"""Publishing as a stranger does: a plain producer, the tests' own hash and Avro, plain or in transactions."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from confluent_kafka import KafkaError, Message, Producer

from tests.support import plain_avro
from tests.support.independent_hash import content_hash, invalid_key

ACKNOWLEDGED_WITHIN_S = 30.0
Transaction = Literal["commit", "abort"]


def request(content: str | bytes, request_id: str, **options: Any) -> dict[str, Any]:
    """A RenderRequested as a publisher fills it in; defaults written out."""
    return {
        "request_id": request_id, "tenant": "default", "idempotency_key": None, "content": content, "format": "png",
        "error_correction": "m", "boost": True, "scale": None, "size": None, "margin": 4.0, "dark": "#000000",
        "light": "#ffffff", "profile": "qr-1", "deliver": "inline", "deadline": None,
        "requested_at": time.time_ns() // 1_000_000, **options,
    }


@dataclass(frozen=True, slots=True)
class Expected:
    """What must come of one published request.

    Attributes:
        key: content hash, or the key of an invalid request.
        content: the exact bytes that the symbol must say.
        error: the code of the failed event; None for a completed one.
    """

    request_id: str
    key: str
    content: bytes
    error: str | None = None


@dataclass
class Publisher:
    """Publishes to one topic and remembers what it published.

    Attributes:
        expected: by request id; what was published in aborted transactions is only in `ghosts`.
        last_offsets: offset of the last record that was acknowledged and not aborted, by partition.
    """

    bootstrap: str
    topic: str
    expected: dict[str, Expected] = field(default_factory=dict)
    ghosts: set[str] = field(default_factory=set)
    partitions: dict[str, int] = field(default_factory=dict)
    last_offsets: dict[int, int] = field(default_factory=dict)
    _plain: Producer | None = None
    _transactional: Producer | None = None
    _failures: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def publish(
        self, contents: Iterable[str | bytes], *, transaction: Transaction | None = None, error: str | None = None,
        ids: Iterable[str] | None = None, **options: Any,
    ) -> list[str]:
        """Publish a request per content and wait for the acknowledgements; the request ids.

        `error` is the code with which all of them must fail; `ids` publishes under given ids.
        """
        given = iter(ids) if ids is not None else None
        kind = "ghost" if transaction == "abort" else "r"
        requests = []
        for content in contents:
            request_id = next(given) if given is not None else f"{kind}{next(self._numbers)}"
            requests.append(request(content, request_id, **options))
        self.publish_requests(requests, transaction=transaction, error=error)
        return [r["request_id"] for r in requests]

    def publish_requests(
        self, requests: Iterable[dict[str, Any]], *, transaction: Transaction | None = None, error: str | None = None, canonical: bool = True
    ) -> None:
        """Publish requests as they are; those that are not `canonical` are keyed by their id."""
        producer = self._producer(transaction is not None)
        if transaction is not None:
            producer.begin_transaction()
        offsets: dict[int, int] = {}
        for fields in requests:
            key = content_hash(fields) if canonical else invalid_key(fields["request_id"])
            content = fields["content"].encode() if isinstance(fields["content"], str) else fields["content"]
            if transaction == "abort":
                self.ghosts.add(fields["request_id"])
            else:
                self.expected.setdefault(fields["request_id"], Expected(fields["request_id"], key, content, error))
            self._send(producer, key.encode(), plain_avro.encode("RenderRequested", fields), offsets)
        self._settle(producer)
        if transaction == "abort":
            producer.abort_transaction(ACKNOWLEDGED_WITHIN_S)
            return
        if transaction == "commit":
            producer.commit_transaction(ACKNOWLEDGED_WITHIN_S)
        self.last_offsets.update(offsets)

    def publish_bytes(
        self, key: bytes | None, value: bytes | None, *, partition: int | None = None, headers: list[tuple[str, bytes | None]] | None = None
    ) -> tuple[int, int]:
        """Publish one record as it is; its partition and offset."""
        producer = self._producer(False)
        offsets: dict[int, int] = {}
        self._send(producer, key, value, offsets, partition=partition, headers=headers)
        self._settle(producer)
        self.last_offsets.update(offsets)
        return next(iter(offsets.items()))

    def _send(self, producer: Producer, key: bytes | None, value: bytes | None, offsets: dict[int, int], **where: Any) -> None:
        def acknowledged(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._failures.append(error.str())
                return
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            offsets[partition] = max(offset, offsets.get(partition, -1))
            if key is not None:
                self.partitions[key.decode("latin-1")] = partition

        given = {name: value for name, value in where.items() if value is not None}
        while True:
            try:
                producer.produce(self.topic, value, key, on_delivery=acknowledged, **given)
                return
            except BufferError:
                producer.poll(0.1)

    def _settle(self, producer: Producer) -> None:
        left = producer.flush(ACKNOWLEDGED_WITHIN_S)
        assert not left, f"{left} requests were not acknowledged"
        assert not self._failures, self._failures[:3]

    def _producer(self, transactional: bool) -> Producer:
        settings = {
            "bootstrap.servers": self.bootstrap, "partitioner": "murmur2_random", "enable.idempotence": True,
            "message.max.bytes": 3 << 20, "linger.ms": 1, "log_level": 2,
        }
        if not transactional:
            if self._plain is None:
                self._plain = Producer(settings)
            return self._plain
        if self._transactional is None:
            self._transactional = Producer({**settings, "transactional.id": f"publisher-of-{self.topic}"})
            self._transactional.init_transactions(ACKNOWLEDGED_WITHIN_S)
        return self._transactional


def contents(count: int, distinct: int, *, seed: int = 1) -> list[str]:
    """`count` contents in random order, each of `distinct` ones at least once."""
    rnd = random.Random(seed)
    numbers = [*range(distinct), *(rnd.randrange(distinct) for _ in range(count - distinct))]
    rnd.shuffle(numbers)
    return [f"https://example.com/item/{number}" for number in numbers]
