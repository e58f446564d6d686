"""Each row of the producer error table.

librdkafka gives these errors only from a broker in trouble at the right moment, so a scripted producer raises
them here; that a real broker fences, aborts and refuses is shown by the integration tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, KafkaError, KafkaException

from streams.ownership import transaction
from streams.ownership.batch import Batch, OutgoingRecord
from streams.ownership.errors import CommitUncertain, Fenced, OutputTooLarge, OwnershipLost, TransactionAborted
from streams.ownership.transaction import LastRow, TransactionalProducer
from streams.settings import load_settings


def failure(code: int, *, fatal: bool = False, retriable: bool = False, abort: bool = False) -> KafkaException:
    return KafkaException(KafkaError(code, None, fatal, retriable, abort))


class Delivered:
    def __init__(self, offset: int) -> None:
        self._offset = offset

    def offset(self) -> int:
        return self._offset

    def timestamp(self) -> tuple[int, int]:
        return TIMESTAMP_LOG_APPEND_TIME, 1_000_000 + self._offset


class ScriptedProducer:
    """Raises what the script says, call by call; without a script a call succeeds."""

    def __init__(self, script: dict[str, list[BaseException | None]], refused: set[bytes] | None = None) -> None:
        self.script = script
        self.refused = refused or set()
        self.calls: list[str] = []
        self.waiting: list[Callable[[], None]] = []
        self.offset = 100
        self.answers = 0
        self.to_abort = False

    def _next(self, call: str) -> None:
        self.calls.append(call)
        planned = self.script.get(call, [])
        error = planned.pop(0) if planned else None
        if error is not None:
            raise error

    def init_transactions(self, _timeout: float) -> None:
        self._next("init")

    def begin_transaction(self) -> None:
        self._next("begin")

    def produce(self, _topic: str, value: bytes | None, _key: bytes, _partition: int, on_delivery: Callable[[Any, Any], None] | None, headers: Any) -> None:  # noqa: ARG002  # as confluent-kafka names it
        self._next("produce")
        self.offset += 1
        offset = self.offset
        refused = value in self.refused
        self.to_abort |= refused
        if on_delivery is not None:
            self.answers += 1
            self.waiting.append(lambda: on_delivery(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE), None) if refused else on_delivery(None, Delivered(offset)))

    def poll(self, _timeout: float) -> None:
        for deliver in self.waiting:
            deliver()
        self.waiting.clear()

    def flush(self, _timeout: float) -> None:
        self.poll(0)

    def commit_transaction(self, _timeout: float) -> None:
        self.poll(0)
        self._next("commit")
        if self.to_abort:  # as librdkafka tells it of a record that the broker refused
            raise failure(KafkaError.MSG_SIZE_TOO_LARGE, abort=True)

    def abort_transaction(self, _timeout: float) -> None:
        self._next("abort")
        self.to_abort = False


@pytest.fixture
def producing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[TransactionalProducer, ScriptedProducer]]:
    def make(refused: set[bytes] | None = None, **script: list[BaseException | None]) -> tuple[TransactionalProducer, ScriptedProducer]:
        scripted = ScriptedProducer(script, refused)
        monkeypatch.setattr(transaction, "Producer", lambda _settings, **_logger: scripted)
        return TransactionalProducer(load_settings(broker="127.0.0.1:1", commit_patience=1), "id"), scripted

    return make


def batch() -> Batch:
    pending = Batch(lambda _key: None, 6, 7)
    pending.send(OutgoingRecord("completed", b"k", b"outcome", None, 6))
    pending.put(b"row", b"value", 6)
    pending.put(b"gone", None, 6)
    return pending


def test_a_commit_returns_the_offset_of_the_last_row(producing: Any) -> None:
    producer, scripted = producing()
    assert producer.publish(batch(), "changelog", 0) == LastRow(103, 1_000_103)
    assert scripted.calls == ["begin", "produce", "produce", "produce", "commit"]
    assert scripted.answers == 1


def test_a_commit_that_timed_out_is_called_again_and_never_aborted(producing: Any) -> None:
    late = failure(KafkaError._TIMED_OUT, retriable=True)
    producer, scripted = producing(commit=[late, late])
    assert producer.publish(batch(), "changelog", 0) == LastRow(103, 1_000_103)
    assert scripted.calls[-3:] == ["commit", "commit", "commit"]
    assert "abort" not in scripted.calls


def test_a_commit_without_an_answer_ends_the_process_as_uncertain(producing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 1))
    monkeypatch.setattr("streams.ownership.transaction.time.monotonic", lambda: float(next(clock)))
    producer, scripted = producing(commit=[failure(KafkaError._TIMED_OUT, retriable=True) for _ in range(9)])
    with pytest.raises(CommitUncertain, match="no answer to the commit within 1 s"):
        producer.publish(batch(), "changelog", 0)
    assert "abort" not in scripted.calls


def test_an_error_that_requires_abort_aborts_and_asks_for_a_new_decision(producing: Any) -> None:
    producer, scripted = producing(commit=[failure(KafkaError._STATE, abort=True)])
    with pytest.raises(TransactionAborted):
        producer.publish(batch(), "changelog", 0)
    assert scripted.calls[-1] == "abort"


def test_an_abort_that_timed_out_is_called_again(producing: Any) -> None:
    producer, scripted = producing(commit=[failure(KafkaError._STATE, abort=True)], abort=[failure(KafkaError._TIMED_OUT, retriable=True)])
    with pytest.raises(TransactionAborted):
        producer.publish(batch(), "changelog", 0)
    assert scripted.calls[-2:] == ["abort", "abort"]


@pytest.mark.parametrize("call", ["begin", "produce", "commit", "abort"])
@pytest.mark.parametrize("code", [KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_TXN_STATE])
def test_a_fenced_producer_ends_the_process_wherever_it_learns_of_it(producing: Any, call: str, code: int) -> None:
    script = {call: [failure(code, fatal=True)]}
    if call == "abort":
        script["commit"] = [failure(KafkaError._STATE, abort=True)]
    producer, _ = producing(**script)
    with pytest.raises(Fenced):
        producer.publish(batch(), "changelog", 0)


def test_any_other_fatal_error_ends_the_process(producing: Any) -> None:
    producer, _ = producing(commit=[failure(KafkaError._FATAL, fatal=True)])
    with pytest.raises(OwnershipLost, match="transactional producer failed"):
        producer.publish(batch(), "changelog", 0)


def test_a_full_local_queue_is_served_and_the_record_produced_again(producing: Any) -> None:
    producer, scripted = producing(produce=[BufferError(), None])
    assert producer.publish(batch(), "changelog", 0) == LastRow(103, 1_000_103)
    assert scripted.calls.count("produce") == 4


def test_a_record_too_large_for_the_client_names_its_request(producing: Any) -> None:
    producer, scripted = producing(produce=[failure(KafkaError.MSG_SIZE_TOO_LARGE)])
    with pytest.raises(OutputTooLarge) as caught:
        producer.publish(batch(), "changelog", 0)
    assert caught.value.origin == 6
    assert scripted.calls[-1] == "abort"


@pytest.mark.parametrize("refused", [b"outcome", b"value"])
def test_a_record_too_large_for_the_broker_names_its_request(producing: Any, refused: bytes) -> None:
    producer, scripted = producing(refused={refused})
    with pytest.raises(OutputTooLarge) as caught:
        producer.publish(batch(), "changelog", 0)
    assert caught.value.origin == 6
    # Once to learn that one of them is too large, once more to learn which.
    assert [call for call in scripted.calls if call != "produce"] == ["begin", "commit", "abort"] * 2
    assert producer.publish(Batch(lambda _key: None, 6, 7, rows={b"small": b"row"}), "changelog", 0).offset == scripted.offset


def test_the_gap_that_a_refused_batch_leaves_is_not_taken_for_an_answer(producing: Any) -> None:
    gap = failure(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, abort=True)
    producer, scripted = producing(refused={b"outcome"}, produce=[None, None, None, gap])
    with pytest.raises(OutputTooLarge) as caught:
        producer.publish(batch(), "changelog", 0)
    assert caught.value.origin == 6
    assert [call for call in scripted.calls if call != "produce"] == ["begin", "commit", "abort", "begin", "abort", "begin", "commit", "abort"]


def test_offsets_of_an_aborted_transaction_are_forgotten(producing: Any) -> None:
    producer, scripted = producing(commit=[failure(KafkaError._STATE, abort=True)])
    with pytest.raises(TransactionAborted):
        producer.publish(batch(), "changelog", 0)
    only_outcome = Batch(lambda _key: None, 6, 7)
    only_outcome.send(OutgoingRecord("completed", b"k", b"outcome", None, 6))
    assert producer.publish(only_outcome, "changelog", 0) == LastRow(-1, 0)
    assert scripted.calls.count("commit") == 2


def test_fencing_waits_for_the_former_owner_to_be_aborted(producing: Any) -> None:
    producer, scripted = producing(init=[failure(KafkaError.CONCURRENT_TRANSACTIONS, retriable=True)])
    producer.fence()
    assert scripted.calls == ["init", "init"]


def test_fencing_that_a_newer_owner_has_overtaken_ends_the_process(producing: Any) -> None:
    producer, _ = producing(init=[failure(KafkaError._FENCED, fatal=True)])
    with pytest.raises(Fenced):
        producer.fence()
