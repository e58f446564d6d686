"""One outcome for each key of the intake: killed, restarted, taken over, and with each guard proven by removal."""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.faulty_worker import CRASHED
from tests.support.oracle import Verdict, judge
from tests.support.outcome_reader import topic_records
from tests.support.publisher import Expected
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun, Worker
from tests.support.submissions import Submitted, Submitter, avro_record, expected, json_record

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]

KEYS, DISTINCT = 2_000, 100
INTAKE = ("--agent", "intake")


def submissions(count: int, distinct: int = DISTINCT, *, first: int = 0) -> list[dict[str, Any]]:
    """One per key, of three tenants, over some distinct contents."""
    return [
        {"tenant": f"tenant {number % 3}", "idempotency_key": f"order {number} 🧾", "content": f"https://example.com/item/{number % distinct}"}
        for number in range(first, first + count)
    ]


def records(parts: list[dict[str, Any]]) -> list[Submitted]:
    """JSON and Avro in turns."""
    return [json_record(fields) if number % 2 else avro_record(fields) for number, fields in enumerate(parts)]


def wanted(parts: list[dict[str, Any]]) -> dict[str, Expected]:
    return {outcome.request_id: outcome for outcome in map(expected, parts)}


def submitter_of(stream: StreamRun) -> Submitter:
    return Submitter(stream.bootstrap, stream.intake)


def judged(stream: StreamRun, outcomes: dict[str, Expected]) -> Verdict:
    """Stop everything and hold the outcomes against what was submitted."""
    stream.end()
    stream.wait_no_open_transaction()
    verdict = judge(outcomes, set(), stream.outcomes.to_end())
    assert verdict.outcomes < len(outcomes) or not verdict.missing, f"{verdict.faults}\n{stream.rerun()}"
    return verdict


def one_outcome_each(stream: StreamRun, parts: list[dict[str, Any]]) -> Verdict:
    """The verdict, once it has no faults."""
    verdict = judged(stream, wanted(parts))
    assert not verdict.faults, f"{'; '.join(verdict.faults)}\n{stream.rerun()}"
    assert verdict.outcomes == len(parts)
    return verdict


def test_kill_minus_nine_while_two_thousand_submissions_flow(stream: StreamRun) -> None:
    parts = submissions(KEYS)
    submitter = submitter_of(stream)
    third = KEYS // 3
    in_flight = seen = 0
    for part in (parts[:third], parts[third : 2 * third]):
        worker = stream.start(*INTAKE, environment={"QR_BATCH_RECORDS": "25"})
        before = len(stream.trace.events("published"))
        submitter.publish(records(part))
        stream.wait(lambda: len(stream.trace.events("published")) > before, "the intake has committed a batch", DEADLINE_S, worker)  # noqa: B023 - waited for here
        worker.kill()
        in_flight += len(stream.in_flight(worker))
        seen = len(stream.outcomes.to_end())
    assert in_flight > 0, "nothing was under way when the worker was killed"
    assert seen < KEYS
    worker = stream.start(*INTAKE)
    submitter.publish(records(parts[2 * third :]))
    submitter.publish(records(random.Random(1).sample(parts, 300)))  # repeats, which change nothing
    stream.wait_outcomes(KEYS, worker)
    stream.wait(lambda: behind(stream, submitter), "every submission is decided", DEADLINE_S, worker)
    verdict = one_outcome_each(stream, parts)
    assert verdict.by_source == {"rendered": DISTINCT, "cache": KEYS - DISTINCT}


def behind(stream: StreamRun, submitter: Submitter) -> bool:
    """Whether the group's offsets lie behind every submission."""
    committed = stream.committed_offsets(stream.intake)
    return all(committed[p] > last for p, last in submitter.last_offsets.items())


@pytest.mark.parametrize("step", ["4-begun", *(pytest.param(step, marks=pytest.mark.long) for step in ("2", "4", "5"))])
def test_a_crash_behind_any_step_leaves_one_outcome_for_each_key(new_stream: NewStream, step: str) -> None:
    stream = new_stream(QR_BATCH_RECORDS="25", QR_COMMIT_INTERVAL="60")
    parts = submissions(300)
    submitter_of(stream).publish(records(parts))
    crashed = stream.start(*INTAKE, "--crash-after", step, "--nth", "3")
    assert crashed.wait(DEADLINE_S) == CRASHED
    following = stream.start(*INTAKE)
    stream.wait_outcomes(len(parts), following)
    one_outcome_each(stream, parts)


def repeated_across_owners(stream: StreamRun, *removed: str) -> tuple[list[dict[str, Any]], Worker]:
    """Every submission twice: before and behind a change of owner whose data folder is empty."""
    parts = submissions(200)
    submitter = submitter_of(stream)
    first = stream.start(*INTAKE, *removed, name="first")
    submitter.publish(records(parts))
    stream.wait_outcomes(len(parts), first)
    stream.wait(lambda: behind(stream, submitter), "every submission is decided", DEADLINE_S, first)
    assert first.terminate() == 0
    second = stream.start(*INTAKE, *removed, name="second")
    stream.wait_open(second)
    submitter.publish(records(parts))
    submitter.publish([json_record({**fields, "content": "something else"}) for fields in parts[:20]])
    stream.wait(lambda: behind(stream, submitter), "every submission is decided", DEADLINE_S, second)
    return parts, second


def test_a_key_is_remembered_across_restarts_and_owners(stream: StreamRun) -> None:
    parts, second = repeated_across_owners(stream)
    stream.wait_outcomes(len(parts) + 20, second)
    stream.end()
    outcomes = stream.outcomes.to_end()
    refused = [o for o in outcomes if o.fields["request_id"].startswith("refused-")]
    verdict = judge(wanted(parts), set(), [o for o in outcomes if o not in refused])
    assert not verdict.faults, f"{verdict.faults}\n{stream.rerun()}"
    assert Counter(o.fields["error_code"] for o in refused) == {"idempotency_conflict": 20}
    restored = sum(line["rows"] for line in stream.trace.events("restored", pid=second.pid))
    assert restored >= len(parts)


def test_without_claims_a_conflicting_payload_is_answered_as_if_it_were_the_first(stream: StreamRun) -> None:
    parts, second = repeated_across_owners(stream, "--without", "claims")
    stream.wait_outcomes(len(parts) + 20, second)
    verdict = judged(stream, wanted(parts))
    assert verdict.by_error["idempotency_conflict"] == 0
    assert len(verdict.ghosts) == 20


@pytest.mark.long
def test_without_claims_a_repeat_is_forwarded_a_second_time(new_stream: NewStream) -> None:
    forwarded = {}
    for removed in ((), ("--without", "claims")):
        stream = new_stream()
        parts = submissions(50)
        submitter = submitter_of(stream)
        worker = stream.start(*INTAKE, *removed)
        submitter.publish(records([*parts, *parts]))
        stream.wait(lambda: behind(stream, submitter), "every submission is decided", DEADLINE_S, worker)  # noqa: B023 - waited for here
        stream.end()
        forwarded[removed] = len(topic_records(stream.bootstrap, {stream.requested: PARTITIONS}))
    assert forwarded == {(): 50, ("--without", "claims"): 100}


@pytest.mark.long
def test_a_worker_resumed_after_another_took_over_forwards_nothing(new_stream: NewStream) -> None:
    stream = new_stream(QR_BATCH_RECORDS="25")
    parts = submissions(500)
    submitter_of(stream).publish(records(parts))
    zombie = stream.start(*INTAKE, "--pause-in", "4-open", "--nth", "3", name="zombie")
    stream.wait(lambda: stream.trace.events("paused"), "the worker pauses in an open batch", DEADLINE_S, zombie)
    taker = stream.start(*INTAKE, name="taker")
    stream.wait_open(taker, PARTITIONS)
    stream.wait_outcomes(len(parts), taker)
    before = len(stream.trace.events("published", pid=zombie.pid))
    zombie.send(signal.SIGCONT)
    stream.wait(lambda: not zombie.running, "the resumed worker ends", 60)
    assert len(stream.trace.events("published", pid=zombie.pid)) == before
    one_outcome_each(stream, parts)
