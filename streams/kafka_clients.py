"""Connection settings of both Kafka clients, librdkafka and aiokafka, from one declaration."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from streams.settings import Settings
from streams.topics import OUTPUT_LIMIT

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer

# Setting → librdkafka property. aiokafka gets the same ones through Faust's credentials
# (streams/faust_app/credentials.py), which is the only door Faust leaves open.
LIBRDKAFKA_PROPERTIES = {
    "broker": "bootstrap.servers",
    "kafka_security_protocol": "security.protocol",
    "kafka_sasl_mechanism": "sasl.mechanism",
    "kafka_sasl_username": "sasl.username",
    "kafka_sasl_password": "sasl.password",
    "kafka_ssl_ca_location": "ssl.ca.location",
    "kafka_ssl_certificate_location": "ssl.certificate.location",
    "kafka_ssl_key_location": "ssl.key.location",
    "kafka_ssl_key_password": "ssl.key.password",
    "kafka_client_id": "client.id",
}

logger = logging.getLogger("librdkafka")
"""Where a long-lived client's own lines go: seen at debug only (streams/logs.py), beside ours they say it twice."""

UNCOMPRESSED_LIMIT = 8 * OUTPUT_LIMIT
"""The client's limit is on uncompressed bytes, a topic's on compressed ones: a dead letter of what a compressing
publisher sent needs the room, and is compressed again."""

CHOSEN_BY_PARTITIONER = -1
Delivery = Callable[["KafkaError | None", Any], None]
"""Is called with a record's error, or None, and the record."""

PARTITIONER = "murmur2_random"
"""Java's default for keyed records. librdkafka's own default (crc32) disagrees with it on 3 keys of 4."""


def connection(settings: Settings) -> dict[str, Any]:
    """What every librdkafka client needs to reach the broker."""
    properties: dict[str, Any] = {}
    for field, name in LIBRDKAFKA_PROPERTIES.items():
        value = getattr(settings, field)
        if value is not None:
            properties[name] = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    # librdkafka writes to stderr by itself; a broker that restarts is no news to a client that
    # reconnects, and what matters comes back as an error of the call.
    return {**properties, "log_level": 2, "allow.auto.create.topics": False}


def consumer(settings: Settings, **properties: Any) -> dict[str, Any]:
    """A read_committed consumer without a group's offsets: it is assigned, never subscribed."""
    return {
        **connection(settings),
        "group.id": f"{settings.app_id}-reader",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 50,
        **properties,
    }


def group_reader(settings: Settings) -> dict[str, Any]:
    """A consumer that asks for the workers' committed offsets; it never joins their group."""
    return {**connection(settings), "group.id": settings.app_id, "enable.auto.commit": False}


def producer(settings: Settings, **properties: Any) -> dict[str, Any]:
    """An idempotent producer that partitions as Java does and takes the largest dead letter."""
    return {
        **connection(settings),
        "partitioner": PARTITIONER,
        "enable.idempotence": True,
        "message.max.bytes": UNCOMPRESSED_LIMIT,
        "compression.type": "lz4",
        **properties,
    }


def transactional_producer(settings: Settings, transactional_id: str) -> dict[str, Any]:
    """The producer of one ownership; its transactional id is what fences the former owner (KIP-98)."""
    return producer(
        settings,
        **{
            "transactional.id": transactional_id,
            "transaction.timeout.ms": int(settings.transaction_timeout * 1000),
            # A transaction is one flush: waiting longer than this for company only delays the commit.
            "linger.ms": 1,
            # One transaction holds a batch's outcomes and rows; its bytes are bounded by batch_bytes.
            "queue.buffering.max.messages": 100_000,
        },
    )


def produce(  # noqa: PLR0913, PLR0917  # the parts of one record
    producer: Producer,
    topic: str,
    value: bytes | None,
    key: bytes | None,
    partition: int = CHOSEN_BY_PARTITIONER,
    on_delivery: Delivery | None = None,
    headers: Any = None,
) -> None:
    """Hand one record to a producer; while its queue is full, serve what has been delivered.

    Raises:
        KafkaException: the client refuses the record, as for its size.
    """
    while True:
        try:
            producer.produce(topic, value, key, partition, on_delivery, headers=headers or [])
            return
        except BufferError:
            producer.poll(0.1)
