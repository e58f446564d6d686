"""Whether a broker answers, by asking it."""

from __future__ import annotations

import socket
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

_ANSWER_SECONDS = 2.0


def answers(bootstrap: str, cluster_id: str | None = None) -> bool:
    """Whether `bootstrap` gives its metadata with at least one live broker, as a member of `cluster_id` if that is set.

    An open port is not enough: a broker listens before it serves, and the port may be another program's.
    """
    host, _, port = bootstrap.rpartition(":")
    try:
        # Refused at once where nothing listens; librdkafka would back off and print its own lines.
        socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()
    except OSError:
        return False
    settings: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0, "error_cb": lambda _: None}
    client = AdminClient(settings)
    try:
        metadata = client.list_topics(timeout=_ANSWER_SECONDS)
    except KafkaException:
        return False
    return bool(metadata.brokers) and (cluster_id is None or metadata.cluster_id == cluster_id)
