"""Step 4: one Kafka transaction, and what each of its errors means.

| producer error | here |
|---|---|
| commit timed out, retriable | call commit again, never abort; after `commit_patience` CommitUncertain |
| requires abort | abort, forget delivery offsets, TransactionAborted |
| fatal, fenced | Fenced |
| queue full (BufferError) | serve deliveries, produce again |
| message too large, local or from the broker | abort, OutputTooLarge with the request's offset |
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer

from streams import kafka_clients
from streams.ownership.append_time import append_time_ms
from streams.ownership.batch import Batch
from streams.ownership.errors import CommitUncertain, Fenced, OutputTooLarge, OwnershipLost, TransactionAborted
from streams.settings import Settings

FENCING_SECONDS = 60.0
"""init_transactions waits while the former owner's transaction is aborted: at most its timeout (≤ 60 s)."""
ATTEMPT_SECONDS = 5.0
"""One call of commit or abort; short, so that the deadline around it is kept."""
_FENCING_CODES = frozenset({
    KafkaError._FENCED,  # noqa: SLF001  # librdkafka names its local codes so
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,
    # The coordinator has aborted a transaction that outlived its timeout, and is asked to commit it.
    KafkaError.INVALID_TXN_STATE,
})


class LastRow(NamedTuple):
    """The last row of a transaction: its offset in the changelog, and when the broker appended it (ms since the epoch).

    The instant is the broker's own (message.timestamp.type=LogAppendTime), 0 where the topic has another type.
    """

    offset: int
    append_time_ms: int


class _RefusedForSize(TransactionAborted):
    """The broker found a record too large, and nobody had asked for which one."""


class TransactionalProducer:
    """The producer of one ownership. Blocking: every method belongs in a thread."""

    def __init__(self, settings: Settings, transactional_id: str) -> None:
        self._settings = settings
        self._producer = Producer(kafka_clients.transactional_producer(settings, transactional_id), logger=kafka_clients.logger)
        self._last_row = LastRow(-1, 0)
        self._too_large: int | None = None

    def fence(self) -> None:
        """Take a new epoch: the former owner's open transaction is aborted, its later calls refused.

        Raises:
            Fenced: somebody took an even newer epoch meanwhile.
            OwnershipLost: the transaction coordinator cannot be reached.
        """
        deadline = time.monotonic() + FENCING_SECONDS
        while True:
            try:
                self._producer.init_transactions(ATTEMPT_SECONDS)
                return
            except KafkaException as exc:
                error: KafkaError = exc.args[0]
                if not error.retriable() or time.monotonic() > deadline:
                    raise _fatal(error) from exc

    def publish(self, batch: Batch, changelog: str, partition: int) -> LastRow:
        """Produce the batch and commit it; where its last row lies in the changelog.

        Raises:
            TransactionAborted, OutputTooLarge: nothing of it is visible; decide again.
            Fenced, CommitUncertain, OwnershipLost: the process must end.
        """
        try:
            return self._publish(batch, changelog, partition, each_answer=False)
        except _RefusedForSize:
            # Nothing of it is visible, and nothing was changed: the same records again, to learn which one it is.
            with suppress(TransactionAborted):
                return self._publish(batch, changelog, partition, each_answer=True)
            # librdkafka counts on behind the records that were refused. For that gap the broker refuses the first record
            # that follows, and only then a new epoch of the producer begins, at nought (KIP-360).
            return self._publish(batch, changelog, partition, each_answer=True)

    def _publish(self, batch: Batch, changelog: str, partition: int, *, each_answer: bool) -> LastRow:
        """One transaction. `each_answer` sends each record alone and asks for its answer, instead of to the last row's.

        Rows go to one partition in order, so that the last row's offset is the batch's. An answer costs more than
        the record: a call from librdkafka for each, which waits for the interpreter every time. And only a record that
        travels alone is told of itself: the broker refuses a producer's batch whole, the small ones in it too.
        """
        self._last_row = LastRow(-1, 0)
        self._too_large = None
        origin = -1
        try:
            self._producer.begin_transaction()
            for record in batch.records:
                origin = record.origin
                place = kafka_clients.CHOSEN_BY_PARTITIONER if record.partition is None else record.partition
                answer = self._answer(origin) if each_answer else None
                kafka_clients.produce(self._producer, record.topic, record.value, record.key, place, answer, record.headers)
                if each_answer:
                    self._producer.flush(ATTEMPT_SECONDS)
            last = len(batch.rows)
            for number, (key, value) in enumerate(batch.rows.items(), 1):
                origin = batch.row_origins.get(key, -1)
                answer = self._answer(origin, row=True) if each_answer or number == last else None
                kafka_clients.produce(self._producer, changelog, value, key, partition, answer)
                if each_answer:
                    self._producer.flush(ATTEMPT_SECONDS)
        except KafkaException as exc:
            if exc.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
                self._too_large = origin
            self._abort(exc.args[0])
        self._commit()
        return self._last_row

    def _answer(self, origin: int, *, row: bool = False) -> kafka_clients.Delivery:
        def delivered(error: KafkaError | None, message: Any) -> None:
            if error is not None:
                if error.code() == KafkaError.MSG_SIZE_TOO_LARGE and self._too_large is None:
                    self._too_large = origin
            elif row and message.offset() > self._last_row.offset:
                self._last_row = LastRow(message.offset(), append_time_ms(message))

        return delivered

    def _commit(self) -> None:
        deadline = time.monotonic() + self._settings.commit_patience
        while True:
            try:
                self._producer.commit_transaction(ATTEMPT_SECONDS)
                self._producer.poll(0)
                return
            except KafkaException as exc:
                error: KafkaError = exc.args[0]
                if error.txn_requires_abort():
                    self._abort(error)
                if not error.retriable():
                    raise _fatal(error) from exc
                if time.monotonic() > deadline:
                    raise CommitUncertain(f"no answer to the commit within {self._settings.commit_patience:.0f} s: {error.str()}") from exc

    def _abort(self, cause: KafkaError) -> None:
        """Abort, and say why; always raises."""
        if cause.fatal() or cause.code() in _FENCING_CODES:
            raise _fatal(cause)
        deadline = time.monotonic() + self._settings.commit_patience
        while True:
            try:
                self._producer.abort_transaction(ATTEMPT_SECONDS)
                break
            except KafkaException as exc:
                error: KafkaError = exc.args[0]
                if not error.retriable() or time.monotonic() > deadline:
                    raise _fatal(error) from exc
        self._producer.poll(0)
        if self._too_large is not None:
            raise OutputTooLarge(self._too_large)
        if cause.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            raise _RefusedForSize(cause.str())
        raise TransactionAborted(cause.str())

    def close(self) -> None:
        """Drop what was never sent and let the client's threads go."""
        with suppress(KafkaException):  # of a producer that has been fenced: there is nothing left to drop
            self._producer.purge()
            self._producer.flush(0)


def _fatal(error: KafkaError) -> OwnershipLost:
    if error.code() == KafkaError.INVALID_TXN_STATE:
        return Fenced(f"the broker had ended the transaction, as after its timeout: {error.str()}")
    if error.code() in _FENCING_CODES or (error.fatal() and "fenced" in error.str().lower()):
        return Fenced(f"a newer owner has taken over: {error.str()}")
    return OwnershipLost(f"the transactional producer failed: {error.str()}")
