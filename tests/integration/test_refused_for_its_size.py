"""A record that the broker refuses for its size costs its own request something, and nobody else anything."""

from __future__ import annotations

import hashlib
import random

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

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
