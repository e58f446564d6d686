"""Ask the owners to let results answer no more: control events, sent through the source so that positions cover them."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from processors.partitioner import partition_for
from streams import kafka_clients
from streams.deciding.control import CONTROL, INVALIDATE, PROFILE
from streams.exit_codes import ExitCode
from streams.settings import Settings
from streams.topic_reader import ensure_reachable
from streams.topics import REQUESTED

ACKNOWLEDGED_WITHIN_SECONDS = 30.0


class NotAsked(Exception):
    """The broker did not take a control event; asking again does no harm."""

    exit_code = ExitCode.BROKER


def invalidate_hash(settings: Settings, content_hash: str) -> None:
    """The next request of this content hash is rendered anew.

    Raises:
        BrokerUnreachable, NotAsked: it was not asked for.
    """
    partition = partition_for(content_hash.encode(), settings.partitions)
    _send(settings, [(partition, content_hash.encode(), {})])


def invalidate_profile(settings: Settings, profile: str) -> None:
    """Requests for the profile are rendered anew where the result is older than this.

    Raises:
        BrokerUnreachable, NotAsked: some owners were not asked.
    """
    _send(settings, [(partition, None, {PROFILE: profile.encode()}) for partition in range(settings.partitions)])


def _send(settings: Settings, events: list[tuple[int, bytes | None, dict[str, bytes]]]) -> None:
    ensure_reachable(settings)
    producer = Producer(kafka_clients.producer(settings, **{"message.timeout.ms": int(ACKNOWLEDGED_WITHIN_SECONDS * 1000)}))
    refused: list[str] = []

    def answered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            refused.append(f"partition {message.partition()}: {error.str()}")

    topic = REQUESTED.full_name(settings)
    for partition, key, named in events:
        headers = [(CONTROL, INVALIDATE), *named.items()]
        try:
            kafka_clients.produce(producer, topic, b"", key, partition, answered, [*headers])
        except KafkaException as exc:
            refused.append(f"partition {partition}: {exc.args[0].str()}")
    producer.flush(ACKNOWLEDGED_WITHIN_SECONDS)
    if refused:
        raise NotAsked(f"{topic} did not take the request ({'; '.join(refused)}); ask again")
