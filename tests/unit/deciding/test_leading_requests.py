"""One request at a time leads the retry of its hash, and only its end is the end of the retry."""

from __future__ import annotations

from streams.deciding.stream_headers import ATTEMPT
from streams.ownership.errors import OutputTooLarge
from tests.unit.deciding.partition import BEGIN_MS, Partition, transient


def test_there_is_one_leader_after_the_first_has_missed_its_deadline(partition: Partition) -> None:
    partition.renderer.fails_with = [transient() for _ in range(3)]
    late = BEGIN_MS + 500
    partition.send(partition.request("a", deadline=late), partition.request("b"), partition.request("c", deadline=late), partition.request("d"))
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert len(partition.keys(b"parked/")) == 1


def test_a_strangers_passed_deadline_does_not_end_the_retry(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"))
    partition.send(partition.request("c", deadline=BEGIN_MS - 1))
    partition.tend()
    assert partition.outcomes() == [("c", "deadline_exceeded")]
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert partition.outcomes()[1:] == [("a", "rendered"), ("b", "cache")]


def test_a_leader_whose_answer_is_too_large_leaves_nobody_waiting(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"))
    partition.owner.script = [OutputTooLarge(2)]  # the offset of its return
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert partition.outcomes() == [("a", "output_too_large"), ("b", "rendered")]
    assert partition.keys(b"waiting/") == []


def test_an_attempt_of_zero_is_the_first(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), headers=((ATTEMPT, b"0"),))
    partition.bring_back(partition.parked()[0])
    partition.now_ms += 1_000 * int(partition.settings.retry_grace) + 10_000
    partition.tend()
    assert partition.outcomes() == [("a", "rendered")]


def test_the_bound_of_one_transaction_holds_for_many_hashes_too(partition: Partition) -> None:
    for number in range(30):
        partition.renderer.fails_with = [transient()]
        partition.send(*(partition.request(f"r{number}-{each}", str(number)) for each in range(10)))
    partition.now_ms += 2_000 + 1_000 * int(partition.settings.retry_grace)
    for _ in range(5):
        partition.tend()
    assert len(partition.outcomes()) == 300
    assert max(len(batch.records) for batch in partition.owner.committed) <= 201
