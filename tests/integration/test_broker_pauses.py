"""A broker that stands still beyond its session with the controller: for a while no leader, then a new epoch of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streams import kafka_clients
from streams.leader_moves import LATEST, watermarks
from streams.local_broker import LocalBroker
from streams.ownership.broker_facts import BrokerFacts
from streams.settings import load_settings

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600), pytest.mark.long]
LOGS = [("logs", partition) for partition in range(8)]
SESSION_S = 2.0


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[LocalBroker]:
    overrides = {"broker.session.timeout.ms": f"{SESSION_S * 1000:.0f}", "broker.heartbeat.interval.ms": "200"}
    with LocalBroker.start(tmp_path / "kafka", overrides=overrides) as broker:
        admin = client_of(broker)
        made = admin.create_topics([NewTopic("logs", num_partitions=len(LOGS), replication_factor=1)], operation_timeout=30)
        made["logs"].result(60)
        yield broker


def client_of(broker: LocalBroker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})


def test_opening_reads_its_offsets_through_a_change_of_leader(own_broker: LocalBroker) -> None:
    settings = load_settings(broker=own_broker.bootstrap)
    facts, reader, once = BrokerFacts(settings), Consumer(kafka_clients.consumer(settings)), client_of(own_broker)
    before = facts.source_logs(LOGS)
    assert refusals(once) == set()
    refused: set[int] = set()
    with ThreadPoolExecutor() as threads:
        for _ in range(10):  # the broker may be back before its controller has noticed
            stand_still(own_broker)
            during = threads.submit(facts.source_logs, LOGS), threads.submit(watermarks, reader, "logs", 0, 30)
            refused |= refusals(once)
            assert during[0].result(90) == before
            assert during[1].result(90) == (0, 0)
            if KafkaError.FENCED_LEADER_EPOCH in refused:
                break
    assert KafkaError.FENCED_LEADER_EPOCH in refused, f"a client that asks once was told {refused}"
    reader.close()


def stand_still(broker: LocalBroker) -> None:
    """Stop the broker for longer than its session, as a client measures it, and let it go on."""
    client = client_of(broker)
    client.list_topics(timeout=30)
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        with pytest.raises(KafkaException):
            client.list_topics(timeout=2 * SESSION_S)
    finally:
        os.kill(broker.pid, signal.SIGCONT)


def refusals(client: AdminClient) -> set[int]:
    """Codes of the answers to one question for the ends of the logs."""
    codes = set()
    for future in client.list_offsets({TopicPartition(*tp): LATEST for tp in LOGS}, request_timeout=30).values():
        try:
            future.result(30)
        except KafkaException as exc:
            codes.add(exc.args[0].code())
    return codes
