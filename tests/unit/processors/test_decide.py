"""The table of decisions: each rule, and what comes before what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.canonical import content_hash
from processors.decide import (
    Answer,
    Arrival,
    DeadLetter,
    Decision,
    Drop,
    Fail,
    Render,
    Reroute,
    Wait,
    decide,
)
from processors.errors import TABLE, error_of
from processors.spec import validate
from schemas.events import MarkerRow, RenderRequested, ResultRow

NOW = 1_000_000
LATER, EARLIER = NOW + 1, NOW - 1
REQUEST = RenderRequested(request_id="r-1", content="https://example.com", requested_at=0)
SPEC = validate(REQUEST)
HASH = content_hash(SPEC)
SOUND = Arrival(HASH.encode(), 100, 2, False, 0, 1, REQUEST, SPEC, HASH, None, 2)
UNREADABLE = replace(SOUND, request=None, spec=None, content_hash=None, problem=error_of("undecodable"))
MISPLACED = replace(SOUND, home_partition=5)
READY = ResultRow(
    status="ready", attempts=1, created_at=0, updated_at=0, fresh_until=LATER, stale_until=LATER, expires_at=LATER
)
FAILED = replace(READY, status="failed", error_code="content_too_long", error_class="permanent", message="too long")
RETRYING = replace(READY, status="retrying", attempts=1, next_attempt_at=LATER)


def marker(generation: int = 0, attempt: int = 1, *, outcome: str | None = "completed", expires_at: int = LATER) -> MarkerRow:
    return MarkerRow(generation=generation, attempt=attempt, outcome=outcome, expires_at=expires_at)


def outcome(decision: Decision) -> tuple[object, ...]:
    """The decision with its error as a code, to compare it by value."""
    if isinstance(decision, Fail):
        return (Fail, decision.error.code, decision.from_cache)
    return (DeadLetter, decision.error.code) if isinstance(decision, DeadLetter) else (decision,)


CASES: list[tuple[str, Arrival, MarkerRow | None, ResultRow | None, tuple[object, ...]]] = [
    ("an undecodable record is a dead letter", UNREADABLE, None, None, (DeadLetter, "undecodable")),
    ("even where a marker and a result are", UNREADABLE, marker(), READY, (DeadLetter, "undecodable")),
    ("even in the wrong partition", replace(UNREADABLE, home_partition=5), None, None, (DeadLetter, "undecodable")),
    ("a misplaced record goes to its partition", MISPLACED, None, None, (Reroute(5),)),
    ("to partition 0 as well", replace(SOUND, home_partition=0), None, None, (Reroute(0),)),
    ("before its marker is looked at", MISPLACED, marker(), READY, (Reroute(5),)),
    ("before its faults", replace(MISPLACED, problem=error_of("invalid_option")), None, None, (Reroute(5),)),
    ("but once only", replace(MISPLACED, rerouted=True), None, READY, (Fail, "wrong_partition", False)),
    ("a second copy of that is a duplicate", replace(MISPLACED, rerouted=True), marker(), None, (Drop("duplicate"),)),
    ("a rerouted record in its place is taken", replace(SOUND, rerouted=True), None, READY, (Answer(False, False),)),
    ("no key belongs nowhere", replace(SOUND, home_partition=None), None, None, (Render(),)),
    ("an answered request is a duplicate", SOUND, marker(), READY, (Drop("duplicate"),)),
    ("an unanswered one too", SOUND, marker(outcome=None), None, (Drop("duplicate"),)),
    ("a lower attempt too", SOUND, marker(attempt=2), None, (Drop("duplicate"),)),
    ("a lower generation too", SOUND, marker(1, 0), None, (Drop("duplicate"),)),
    ("a higher attempt goes on", replace(SOUND, attempt=2), marker(outcome=None), None, (Render(),)),
    ("a replay goes on", replace(SOUND, generation=1), marker(0, 9), None, (Render(),)),
    ("an expired marker does not count", SOUND, marker(expires_at=NOW), None, (Render(),)),
    ("a duplicate comes before its fault", replace(SOUND, problem=error_of("wrong_key")), marker(), None, (Drop("duplicate"),)),
    ("ready and fresh is answered", SOUND, None, READY, (Answer(False, False),)),
    ("stale is answered and refreshed", SOUND, None, replace(READY, fresh_until=NOW), (Answer(True, True),)),
    ("staler is rendered", SOUND, None, replace(READY, fresh_until=NOW, stale_until=NOW), (Render(),)),
    ("an expired row never answers", SOUND, None, replace(READY, expires_at=NOW), (Render(),)),
    ("a failure is answered from the cache", SOUND, None, FAILED, (Fail, "content_too_long", True)),
    ("an expired failure is tried again", SOUND, None, replace(FAILED, expires_at=NOW), (Render(),)),
    ("an unknown code is tried again", SOUND, None, replace(FAILED, error_code="of_next_year"), (Render(),)),
    ("no code is tried again", SOUND, None, replace(FAILED, error_code=None), (Render(),)),
    ("a pending retry is waited for", SOUND, None, RETRYING, (Wait(),)),
    ("by a replay too", replace(SOUND, generation=3), marker(), RETRYING, (Wait(),)),
    ("the returning retry renders", replace(SOUND, attempt=2), marker(outcome=None), RETRYING, (Render(),)),
    ("an expired retry is not waited for", SOUND, None, replace(RETRYING, expires_at=NOW), (Render(),)),
    ("an unknown status is rendered", SOUND, None, replace(READY, status="paused"), (Render(),)),
    ("nothing known is rendered", SOUND, None, None, (Render(),)),
]


@pytest.mark.parametrize(("arrival", "found", "result", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_table(
    arrival: Arrival, found: MarkerRow | None, result: ResultRow | None, expected: tuple[object, ...]
) -> None:
    assert outcome(decide(arrival, found, result, NOW)) == expected


@pytest.mark.parametrize(
    "code", ["content_empty", "invalid_content", "invalid_option", "request_too_large", "wrong_key", "missing_key"]
)
def test_a_fault_of_the_record_fails_whatever_the_table_has(code: str) -> None:
    for result in (None, READY, FAILED, RETRYING):
        assert outcome(decide(replace(SOUND, problem=error_of(code)), None, result, NOW)) == (Fail, code, False)


@pytest.mark.parametrize(("deadline", "expected"), [(EARLIER, (Fail, "deadline_exceeded", False)), (NOW, (Render(),)), (None, (Render(),))])
def test_a_deadline_is_an_instant_that_may_not_have_passed(deadline: int | None, expected: tuple[object, ...]) -> None:
    arrival = replace(SOUND, request=replace(REQUEST, deadline=deadline))

    assert outcome(decide(arrival, None, None, NOW)) == expected


@pytest.mark.parametrize("result", [READY, FAILED, RETRYING])
def test_a_passed_deadline_comes_before_any_result(result: ResultRow) -> None:
    arrival = replace(SOUND, request=replace(REQUEST, deadline=EARLIER))

    assert outcome(decide(arrival, None, result, NOW)) == (Fail, "deadline_exceeded", False)


def test_a_fault_comes_before_the_deadline() -> None:
    arrival = replace(SOUND, request=replace(REQUEST, deadline=EARLIER), problem=error_of("wrong_key"))

    assert outcome(decide(arrival, None, None, NOW)) == (Fail, "wrong_key", False)


@pytest.mark.parametrize("code", TABLE)
def test_every_cached_failure_comes_back_with_its_code_and_message(code: str) -> None:
    decision = decide(SOUND, None, replace(FAILED, error_code=code, message="as it was"), NOW)

    assert isinstance(decision, Fail)
    assert (decision.error.code, decision.error.message, decision.from_cache) == (code, "as it was", True)


instants = st.sampled_from([0, EARLIER, NOW, LATER])
arrivals = st.builds(
    Arrival,
    key=st.sampled_from([None, b"", HASH.encode()]),
    size_bytes=st.integers(0, 10),
    partition=st.integers(0, 2),
    rerouted=st.booleans(),
    generation=st.integers(0, 2),
    attempt=st.integers(0, 3),
    request=st.none() | instants.map(lambda deadline: replace(REQUEST, deadline=deadline)),
    spec=st.sampled_from([None, SPEC]),
    content_hash=st.sampled_from([None, HASH]),
    problem=st.none() | st.sampled_from(list(TABLE)).map(error_of),
    home_partition=st.none() | st.integers(0, 2),
)
markers = st.none() | st.builds(
    MarkerRow, generation=st.integers(0, 2), attempt=st.integers(0, 3), outcome=st.none(), expires_at=instants
)
results = st.none() | st.builds(
    ResultRow,
    status=st.sampled_from(["ready", "failed", "retrying", "", "other"]),
    attempts=st.integers(0, 3),
    error_code=st.none() | st.sampled_from([*TABLE, "other"]),
    created_at=st.just(0),
    updated_at=st.just(0),
    fresh_until=instants,
    stale_until=instants,
    expires_at=instants,
)


@settings(max_examples=80, deadline=None)
@given(arrivals, markers, results)
def test_no_combination_raises_or_breaks_the_order_of_the_rules(
    arrival: Arrival, found: MarkerRow | None, result: ResultRow | None
) -> None:
    decision = decide(arrival, found, result, NOW)

    misplaced = arrival.home_partition is not None and arrival.home_partition != arrival.partition
    taken = (
        found is not None
        and found.expires_at > NOW
        and (arrival.generation, arrival.attempt) <= (found.generation, found.attempt)
    )
    live = result is not None and result.expires_at > NOW
    if arrival.request is None:
        assert isinstance(decision, DeadLetter)
    elif misplaced and not arrival.rerouted:
        assert decision == Reroute(arrival.home_partition or 0)
    elif taken:
        assert decision == Drop("duplicate")
    elif misplaced:
        assert outcome(decision) == (Fail, "wrong_partition", False)
    elif arrival.problem is not None:
        assert decision == Fail(arrival.problem)
    elif arrival.request.deadline is not None and arrival.request.deadline < NOW:
        assert outcome(decision) == (Fail, "deadline_exceeded", False)
    elif live and result is not None and result.status == "ready" and result.stale_until > NOW:
        assert decision == Answer(result.fresh_until <= NOW, result.fresh_until <= NOW)
    elif not live:
        assert decision == Render()
    else:
        assert isinstance(decision, Answer | Fail | Wait | Render)
