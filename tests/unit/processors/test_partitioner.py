from __future__ import annotations

import random

import pytest
from confluent_kafka import Message, Producer

from processors.partitioner import VECTORS, murmur2, partition_for


@pytest.mark.parametrize(
    ("key", "signed"),
    [
        # Kafka clients, UtilsTest.testMurmur2
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_that_of_the_java_client(key: bytes, signed: int) -> None:
    assert murmur2(key) == signed % (1 << 32)


@pytest.mark.parametrize(("key", "partitions", "partition"), VECTORS)
def test_a_known_key_has_its_known_partition(key: bytes, partitions: int, partition: int) -> None:
    assert partition_for(key, partitions) == partition


def test_librdkafka_sends_keys_of_every_length_to_the_same_partitions() -> None:
    # librdkafka's mock cluster makes topics of four partitions.
    producer = Producer(
        {
            "bootstrap.servers": "localhost:1",
            "test.mock.num.brokers": 1,
            "partitioner": "murmur2_random",
            "log_level": 0,
        }
    )
    bytes_of = random.Random(4)
    keys = [bytes_of.randbytes(length) for length in range(1, 90)] + [key for key, _, _ in VECTORS]
    sent: dict[bytes, int] = {}

    def delivered(error: object, message: Message) -> None:
        assert error is None
        key = message.key()
        assert isinstance(key, bytes)
        sent[key] = message.partition() or 0

    for key in keys:
        producer.produce("keys", key=key, value=b"", on_delivery=delivered)

    assert producer.flush(20) == 0
    assert sent == {key: partition_for(key, 4) for key in keys}
    assert set(sent.values()) == {0, 1, 2, 3}
