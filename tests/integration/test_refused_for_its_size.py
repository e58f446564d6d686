"""A record that the broker refuses for its size costs its own request something, and nobody else anything."""

from __future__ import annotations

import hashlib
import random

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from streams.ownership.batch import Batch, OutgoingRecord
from streams.ownership.errors import OutputTooLarge
from streams.ownership.transaction import TransactionalProducer
from tests.support.stream_run import DEADLINE_S, StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

LIMIT = 20_000
UNDECODABLE = random.Random(1).randbytes(LIMIT + 10_000)  # random: a topic's limit is on compressed bytes


def lower_limit(stream: StreamRun, topic: str, limit: int) -> None:
    """While the worker runs: at its start it would refuse such a topic."""
    entry = ConfigEntry("max.message.bytes", str(limit), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for future in stream.admin.incremental_alter_configs([resource], request_timeout=30).values():
        future.result(30)


def is_refused(stream: StreamRun, topic: str) -> bool:
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": stream.bootstrap, "log_level": 2})
    producer.produce(topic, UNDECODABLE, partition=1, on_delivery=lambda error, _: errors.append(error))
    producer.flush(30)
    return [error.code() for error in errors if error is not None] == [KafkaError.MSG_SIZE_TOO_LARGE]


def test_a_letter_that_its_topic_refuses_goes_without_the_value_and_the_stream_goes_on(stream: StreamRun) -> None:
    worker = stream.start()
    stream.wait_open(worker)
    lower_limit(stream, stream.dead_letters, LIMIT)
    partition, offset = stream.publisher.publish_bytes(b"any key", UNDECODABLE)
    stream.publisher.publish([f"healthy {number}" for number in range(20)])
    stream.wait_all(worker)
    stream.wait(stream.letters, "a dead letter", DEADLINE_S, worker)
    stream.exactly_once(renders=20)
    [letter] = stream.letters()
    headers = dict(letter.headers())
    assert (letter.key(), letter.value()) == (b"any key", None)
    assert headers["qr-dlq-reason"] == b"undecodable"
    assert headers["qr-dlq-value-sha256"] == hashlib.sha256(UNDECODABLE).hexdigest().encode()
    # Where the bytes lie.
    assert (headers["qr-dlq-source-partition"], headers["qr-dlq-source-offset"]) == (b"%d" % partition, b"%d" % offset)


@pytest.mark.parametrize("large", [3, 17])
def test_the_large_record_is_blamed_and_no_small_one_that_travelled_with_it(stream: StreamRun, large: int) -> None:
    lower_limit(stream, stream.dead_letters, LIMIT)
    stream.wait(lambda: is_refused(stream, stream.dead_letters), "the limit holds", DEADLINE_S)
    producer = TransactionalProducer(stream.settings, f"{stream.names.app_id}-letters")
    producer.fence()
    batch = Batch(lambda _key: None, 0, 0)
    for origin in range(20):
        value = UNDECODABLE if origin in {large, 18} else b"small"
        batch.send(OutgoingRecord(stream.dead_letters, b"key", value, [], origin, 0))
    with pytest.raises(OutputTooLarge) as refused:
        producer.publish(batch, stream.changelog, 0)
    producer.close()
    assert refused.value.origin == large
