"""Which broker: the one that is named, else one in Docker, else one from Kafka's jars."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from streams.local_broker.broker import LocalBroker
from streams.local_broker.compose import ComposeBroker, engine_answers
from streams.local_broker.training import train


@contextlib.contextmanager
def open_broker(data_dir: Path, *, address: str | None, port: int | None = None) -> Iterator[str]:
    """host:port of a broker for as long as the block runs; stopped after it only if it was started for it.

    `address` (the setting QR_BROKER) is taken as it is and never stopped. `data_dir` and `port` are for the broker
    from Kafka's jars. Raises LocalBrokerError, in one line, when none can be had.
    """
    if address is not None:
        yield address
    elif engine_answers():
        with ComposeBroker.start() as in_docker:
            yield in_docker.bootstrap
    else:
        with LocalBroker.start(data_dir, port=port) as local:
            yield local.bootstrap


def prepare(*, address: str | None) -> None:
    """Do now what can be done before `open_broker`, so that it starts soon: bring the jars, archive their classes.

    Raises LocalBrokerError as `open_broker` would.
    """
    if address is None and not engine_answers():
        train()
