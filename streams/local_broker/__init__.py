"""A Kafka broker for one machine: the one that is there, one in Docker, or one from Kafka's own jars."""

from streams.local_broker.broker import LocalBroker
from streams.local_broker.choice import open_broker, prepare
from streams.local_broker.errors import LocalBrokerError

__all__ = ["LocalBroker", "LocalBrokerError", "open_broker", "prepare"]
