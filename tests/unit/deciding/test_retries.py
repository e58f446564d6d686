"""A request that failed for a passing reason comes back; the others of its hash wait for it, and each has one outcome."""

from __future__ import annotations

import pytest

from streams.deciding.stream_headers import ATTEMPT, DUE, FIRST_ERROR, FIRST_FAILURE, GENERATION, LAST_ERROR
from streams.ownership.errors import OutputTooLarge, TransactionAborted
from tests.unit.deciding.partition import BEGIN_MS, SECOND, Partition, transient


def test_the_leading_request_is_parked_with_what_it_needs_to_come_back(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), headers=(("traceparent", b"00-1"),))
    assert partition.outcomes() == []
    (record,) = partition.parked()
    assert record.topic == "qr.render.retry.1"
    headers = dict(record.headers or [])
    assert headers[ATTEMPT] == b"2"
    assert headers[GENERATION] == b"0"
    assert headers[FIRST_ERROR] == headers[LAST_ERROR] == "render_timeout"
    assert headers[FIRST_FAILURE] == b"%d" % BEGIN_MS
    assert headers["traceparent"] == b"00-1"
    # Partition p of P waits delay x (1 + 0.2 p / (P - 1)).
    assert record.partition is not None
    assert headers[DUE] == b"%d" % (BEGIN_MS + SECOND + 200 * record.partition // 7)
    row = partition.result()
    assert row is not None
    assert (row.status, row.attempts, row.next_attempt_at) == ("retrying", 1, int(headers[DUE] or 0))


def test_requests_of_the_same_hash_wait_for_the_retry_and_are_answered_in_order(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"), partition.request("c"))
    assert partition.outcomes() == []
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert partition.outcomes() == [("a", "rendered"), ("b", "cache"), ("c", "cache")]
    assert partition.renderer.rendered == 1
    assert partition.keys(b"waiting/") == partition.keys(b"parked/") == partition.keys(b"answerable/") == []


def test_a_request_of_another_hash_does_not_wait(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("other", "y"))
    assert partition.outcomes() == [("other", "rendered")]


def test_a_repeat_of_a_parked_or_waiting_request_is_a_duplicate(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"))
    partition.send(partition.request("a"), partition.request("b"))
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert partition.outcomes() == [("a", "rendered"), ("b", "cache")]


def test_attempts_are_used_up_after_the_last_delay_and_everybody_fails_with_a_letter(partition: Partition) -> None:
    partition.renderer.fails_with = [transient() for _ in range(5)]
    partition.send(partition.request("a"), partition.request("b"))
    for number in range(4):
        assert partition.outcomes() == []
        partition.bring_back(partition.parked()[number])
    partition.tend()
    assert [record.topic for record in partition.parked()] == [f"qr.render.retry.{number}" for number in (1, 2, 3, 4)]
    assert partition.outcomes() == [("a", "render_timeout"), ("b", "render_timeout")]
    assert [dict(letter.headers or [])["qr-dlq-request-id"] for letter in partition.letters()] == [b"a", b"b"]
    assert dict(partition.letters()[0].headers or [])["qr-dlq-first-failure"] == b"%d" % BEGIN_MS
    row = partition.result()
    assert row is not None
    assert (row.status, row.attempts, row.error_code) == ("failed", 5, "render_timeout")
    assert partition.keys(b"waiting/") == partition.keys(b"parked/") == []
    # Negative cache: the next is answered at once, without a letter of its own.
    partition.send(partition.request("c"))
    assert partition.outcomes()[-1] == ("c", "render_timeout")
    assert len(partition.letters()) == 2


def test_a_parked_request_that_does_not_come_back_fails_as_lost_and_the_next_that_waits_takes_its_place(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"), partition.request("c"))
    (record,) = partition.parked()
    lost_after = int(dict(record.headers or [])[DUE] or 0) + int(partition.settings.retry_grace * 1000)
    partition.now_ms = lost_after - 1
    partition.tend()
    assert partition.outcomes() == []
    partition.now_ms = lost_after
    partition.tend()
    partition.tend()
    assert partition.outcomes() == [("a", "retry_lost"), ("b", "rendered"), ("c", "cache")]
    # Late all the same: it has its outcome.
    partition.bring_back(record)
    assert len(partition.outcomes()) == 3


def test_a_deadline_that_passes_while_a_request_is_parked_fails_it_and_those_that_wait_go_on(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a", deadline=BEGIN_MS + 500), partition.request("b"))
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert partition.outcomes() == [("a", "deadline_exceeded"), ("b", "rendered")]
    assert partition.keys(b"waiting/") == partition.keys(b"parked/") == []


def test_more_that_wait_than_one_transaction_answers_are_answered_in_several(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    names = [f"r{number:03}" for number in range(450)]
    partition.send(*(partition.request(name) for name in names))
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert partition.outcomes() == [(names[0], "rendered"), *((name, "cache") for name in names[1:])]
    largest = max(len(batch.records) for batch in partition.owner.committed)
    assert largest <= 201


@pytest.mark.parametrize("failures", [1, 2, 3, 4])
def test_the_attempts_of_an_outcome_are_counted(partition: Partition, failures: int) -> None:
    partition.renderer.fails_with = [transient() for _ in range(failures)]
    partition.send(partition.request("a"))
    for number in range(failures):
        partition.bring_back(partition.parked()[number])
    row = partition.result()
    assert row is not None
    assert (row.status, row.attempts) == ("ready", failures + 1)
    assert partition.outcomes() == [("a", "rendered")]


def test_an_answer_too_large_among_those_that_waited_fails_its_own_request_and_not_the_others(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"), partition.request("c"))
    partition.bring_back(partition.parked()[0])
    partition.owner.script = [OutputTooLarge(1)]  # the offset of b
    partition.tend()
    assert partition.outcomes() == [("a", "rendered"), ("b", "output_too_large"), ("c", "cache")]
    assert partition.keys(b"waiting/") == partition.keys(b"answerable/") == []


def test_chores_of_an_aborted_transaction_are_done_in_the_next(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"))
    partition.bring_back(partition.parked()[0])
    partition.owner.script = [TransactionAborted("broker restarted")]
    partition.tend()
    assert partition.owner.chores_are_due()
    partition.send(partition.request("other", "y"))
    assert sorted(partition.outcomes()) == [("a", "rendered"), ("b", "cache"), ("other", "rendered")]


def test_those_that_wait_for_a_lost_request_go_on_even_if_the_row_of_its_retry_is_gone(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"))
    del partition.owner.rows[partition.keys(b"result/")[0]]
    partition.now_ms += 2_000 + int(partition.settings.retry_grace * 1000)
    partition.tend()
    partition.tend()
    assert partition.outcomes() == [("a", "retry_lost"), ("b", "rendered")]
