"""One transaction of the forwarder: due records to their topics, and the group's offsets behind them (KIP-447).

The transactional id is this forwarder's own, by its instance id, so a restart fences its former self and ends what
that left open at once. Two forwarders have two ids and do not fence each other by epoch: what keeps a late one
from forwarding is the group's generation and static member, checked by the broker with the offsets.
"""

from __future__ import annotations

import time
from hashlib import sha256
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from processors.errors import TABLE
from streams import kafka_clients
from streams.dead_letters.letter import our_headers
from streams.delay.schedule import Batch, Going, Header, Parked, Place
from streams.ownership.errors import OwnershipLost
from streams.ownership.transaction import ATTEMPT_SECONDS, TransactionalProducer
from streams.settings import Settings
from streams.topics import DEAD_LETTERS, REQUESTED

REFUSED = TABLE["request_too_large"]
"""Why a record that fits a retry topic and not the requested one becomes a dead letter."""


def transactional_id(settings: Settings, instance: str) -> str:
    """Of the forwarder with this instance id."""
    return f"{settings.app_id}-delay-{instance}"


class ForwardingProducer(TransactionalProducer):
    """Commits batches as the owners do: the same answers to the same errors (streams/ownership/transaction.py)."""

    def __init__(self, settings: Settings, instance: str) -> None:
        super().__init__(settings, transactional_id(settings, instance))
        self._requested = REQUESTED.full_name(settings)
        self._dead_letters = DEAD_LETTERS.full_name(settings)
        self._patience = settings.commit_patience

    def forward(self, batch: Batch, group: Any, now_ms: int, *, each_answer: bool) -> None:
        """Send the batch on and commit its offsets, in one transaction.

        `group` is the consumer's metadata as of its assignment: taken later it could be that of no member at all,
        which the broker would not check. `each_answer` asks for the broker's answer to each record, which tells a
        record that is too large by name, and costs more than the record.

        Raises:
            TransactionAborted: nothing of it is visible.
            OutputTooLarge: the same; its origin is the record's place in the batch.
            Fenced, CommitUncertain, OwnershipLost: the process must end.
        """
        self._too_large = None
        number = -1
        try:
            self._producer.begin_transaction()
            for number, (place, parked) in enumerate(batch):
                self._produce(place, parked, now_ms, self._answer(number) if each_answer else None)
            self._send_offsets(offsets_behind(batch), group)
        except KafkaException as exc:
            if exc.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
                self._too_large = number
            self._abort(exc.args[0])
        self._commit()

    def _produce(self, place: Place, parked: Parked, now_ms: int, answer: kafka_clients.Delivery | None) -> None:
        if parked.going is Going.TO_REQUESTED:
            # The client's partitioner is Java's, as processors.partitioner is, and takes a record without a key too.
            kafka_clients.produce(self._producer, self._requested, parked.value, parked.key, on_delivery=answer, headers=parked.headers)
            return
        with_value = parked.going is Going.TO_DEAD_LETTERS
        headers = [*parked.headers, *_letter_headers(place, parked, now_ms, with_value=with_value)]
        kafka_clients.produce(self._producer, self._dead_letters, parked.value if with_value else None, parked.key, on_delivery=answer, headers=headers)

    def _send_offsets(self, offsets: list[TopicPartition], group: Any) -> None:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                self._producer.send_offsets_to_transaction(offsets, group, ATTEMPT_SECONDS)
                return
            except KafkaException as exc:
                error: KafkaError = exc.args[0]
                if not error.retriable() or error.txn_requires_abort():
                    raise
                if time.monotonic() > deadline:
                    raise OwnershipLost(f"the group's coordinator did not take the offsets within {self._patience:.0f} s: {error.str()}") from exc


def offsets_behind(batch: Batch) -> list[TopicPartition]:
    """The offset after the last record of each partition."""
    behind = {place: parked.offset + 1 for place, parked in batch}
    return [TopicPartition(topic, partition, offset) for (topic, partition), offset in behind.items()]


def _letter_headers(place: Place, parked: Parked, now_ms: int, *, with_value: bool) -> list[Header]:
    return [*our_headers({
        "reason": REFUSED.code,
        "class": str(REFUSED.error_class),
        "message": f"the parked record has {parked.size:,} bytes and is larger than the requested topic takes; send it again with less",
        "first-failure": now_ms,
        "last-failure": now_ms,
        "source-topic": place[0],
        "source-partition": place[1],
        "source-offset": parked.offset,
        "content-length": None if parked.value is None else len(parked.value),
        "value-sha256": None if with_value or parked.value is None else sha256(parked.value).hexdigest(),
    })]
