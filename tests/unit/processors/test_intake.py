"""The decision about a submission: its rules one by one, and the promise to a key as a state machine."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from processors.decide import DeadLetter, Drop, Reroute
from processors.errors import error_of
from processors.intake import (
    Forward,
    IntakeDecision,
    Refuse,
    claim_key,
    decide_submission,
    forwarded_id,
    refused_id,
    unclaimed_id,
)
from processors.submission import Identity, SubmissionArrival
from schemas.events import ClaimRow

NOW = 1_000_000
HASH = "ab" * 32
IDENTITY = Identity("default", "k")
SOUND = SubmissionArrival(
    partition=2, rerouted=False, generation=0, readable=True, identity=IDENTITY, home_partition=2, content_hash=HASH, fingerprint=b"p" * 32
)
CLAIM = ClaimRow(request_id=f"{HASH}-0", content_hash=HASH, fingerprint=b"p" * 32, generation=0, state="forwarded", expires_at=NOW + 1)
WRONG = replace(SOUND, problem=error_of("invalid_option"), content_hash=None, fingerprint=b"w" * 32)
UNREADABLE = SubmissionArrival(partition=2, rerouted=False, generation=0, problem=error_of("undecodable"))
NOBODYS = replace(SOUND, identity=None, home_partition=None, fingerprint=b"", problem=error_of("invalid_option"))
OTHER = replace(CLAIM, fingerprint=b"o" * 32)


def outcome(decision: IntakeDecision) -> tuple[Any, ...]:
    if isinstance(decision, Refuse):
        return (Refuse, decision.error.code, decision.claims)
    return (DeadLetter, decision.error.code) if isinstance(decision, DeadLetter) else (decision,)


CASES: list[tuple[str, SubmissionArrival, ClaimRow | None, tuple[Any, ...]]] = [
    ("what cannot be read is a dead letter", UNREADABLE, None, (DeadLetter, "undecodable")),
    ("a wrong name is refused and claims nothing", NOBODYS, None, (Refuse, "invalid_option", False)),
    ("a misplaced submission goes to its partition", replace(SOUND, home_partition=0), None, (Reroute(0),)),
    ("before its claim is looked at", replace(SOUND, home_partition=5), CLAIM, (Reroute(5),)),
    ("a wrong payload too", replace(WRONG, home_partition=5), None, (Reroute(5),)),
    ("once", replace(SOUND, home_partition=5, rerouted=True), None, (Refuse, "wrong_partition", False)),
    ("a routed one that has arrived is as any", replace(SOUND, rerouted=True), None, (Forward(),)),
    ("the first is forwarded", SOUND, None, (Forward(),)),
    ("the same again is a duplicate", SOUND, CLAIM, (Drop("duplicate"),)),
    ("another payload is a conflict and claims nothing", SOUND, OTHER, (Refuse, "idempotency_conflict", False)),
    ("a wrong payload is refused and claims its key", WRONG, None, (Refuse, "invalid_option", True)),
    ("once", WRONG, replace(CLAIM, fingerprint=b"w" * 32), (Drop("duplicate"),)),
    ("and is in conflict with a sound one before it", WRONG, CLAIM, (Refuse, "idempotency_conflict", False)),
    ("an expired claim is none", SOUND, replace(OTHER, expires_at=NOW), (Forward(),)),
    ("a replay of a higher generation is decided anew", replace(SOUND, generation=1), CLAIM, (Forward(),)),
    ("once", replace(SOUND, generation=1), replace(CLAIM, generation=1), (Drop("duplicate"),)),
    ("a lower generation is a duplicate", SOUND, replace(CLAIM, generation=3), (Drop("duplicate"),)),
    ("and never takes another's key", replace(SOUND, generation=1), OTHER, (Refuse, "idempotency_conflict", False)),
]


@pytest.mark.parametrize(("arrival", "claim", "expected"), [case[1:] for case in CASES], ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_the_rules(arrival: SubmissionArrival, claim: ClaimRow | None, expected: tuple[Any, ...]) -> None:
    assert outcome(decide_submission(arrival, claim, NOW)) == expected


def test_a_conflict_names_the_request_that_stands_and_how_it_ended() -> None:
    refused = decide_submission(SOUND, replace(OTHER, request_id="refused-1", state="refused", error_code="content_empty"), NOW)
    assert isinstance(refused, Refuse)
    assert "request refused-1 (refused with content_empty), which stands" in refused.error.message


def test_the_ids_are_exactly_these() -> None:
    identity = Identity("default", "order-17")
    # printf 'default\0order-17' | sha256sum
    assert forwarded_id(HASH, identity) == f"{HASH}-ea1262c62d97d149"
    assert re.fullmatch(r"refused-[0-9a-f]{32}", refused_id(b"f" * 32, identity))
    assert re.fullmatch(r"refused-3-17-[0-9a-f]{16}", unclaimed_id("uuid", 3, 17))
    assert unclaimed_id("uuid", 3, 17) != unclaimed_id("another uuid", 3, 17)
    assert claim_key(identity) == b"claim/default\x00order-17"


NAMES = st.sampled_from(["a", "b", "a\U0001f600", "x" * 255])
KEYS = st.sampled_from(["k", "\x00", "b\x00k", "k\x00", "k" * 255])
PAYLOADS = st.integers(0, 3)
LIFETIME = 1_000


class OneOutcomeAKey(RuleBasedStateMachine):
    """Submissions in any order against the rows that they leave, beside a model that knows only what was promised."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.rows: dict[bytes, ClaimRow] = {}
        self.first: dict[tuple[str, str], tuple[int, int]] = {}
        self.ids: dict[str, tuple[str, str, int]] = {}
        self.offset = 0

    def submit(self, tenant: str, key: str, payload: int) -> IntakeDecision:
        """Decide one and write its row as the stream does; payload 3 has no canonical form."""
        identity = Identity(tenant, key)
        invalid = payload == 3
        arrival = SubmissionArrival(
            partition=0, rerouted=False, generation=0, readable=True, identity=identity, home_partition=0,
            content_hash=None if invalid else f"{payload:064x}", fingerprint=bytes([payload]) * 32,
            problem=error_of("content_empty") if invalid else None,
        )
        decision = decide_submission(arrival, self.rows.get(claim_key(identity)), self.now)
        self.offset += 1
        if isinstance(decision, Forward) or (isinstance(decision, Refuse) and decision.claims):
            forwarded = isinstance(decision, Forward)
            request_id = forwarded_id(arrival.content_hash or "", identity) if forwarded else refused_id(arrival.fingerprint, identity)
            # An id is one intent's: the same tenant, key and payload, however often the key has been free in between.
            assert self.ids.setdefault(request_id, (tenant, key, payload)) == (tenant, key, payload)
            self.rows[claim_key(identity)] = ClaimRow(
                request_id=request_id, content_hash=arrival.content_hash, fingerprint=arrival.fingerprint, generation=0,
                state="forwarded" if forwarded else "refused", expires_at=self.now + LIFETIME,
            )
        elif isinstance(decision, Refuse):
            assert self.ids.setdefault(unclaimed_id("uuid", 0, self.offset), (tenant, key, -self.offset)) == (tenant, key, -self.offset)
        return decision

    @rule(tenant=NAMES, key=KEYS, payload=PAYLOADS)
    def a_submission(self, tenant: str, key: str, payload: int) -> None:
        before = dict(self.rows)
        decision = self.submit(tenant, key, payload)
        standing = self.first.get((tenant, key))
        if standing is None or standing[1] <= self.now:
            assert outcome(decision) == ((Refuse, "content_empty", True) if payload == 3 else (Forward(),))
            self.first[tenant, key] = payload, self.now + LIFETIME
            assert {name for name in self.rows if self.rows[name] != before.get(name)} == {claim_key(Identity(tenant, key))}
        else:
            assert outcome(decision) == ((Drop("duplicate"),) if standing[0] == payload else (Refuse, "idempotency_conflict", False))
            assert self.rows == before

    @precondition(lambda self: self.first)
    @rule(data=st.data())
    def a_repeat(self, data: st.DataObject) -> None:
        (tenant, key), (payload, _) = data.draw(st.sampled_from(sorted(self.first.items())))
        self.a_submission(tenant, key, payload)

    @rule(passed=st.integers(1, LIFETIME))
    def time_passes(self, passed: int) -> None:
        self.now += passed


TestOneOutcomeAKey = OneOutcomeAKey.TestCase
TestOneOutcomeAKey.settings = settings(deadline=None, max_examples=60, stateful_step_count=30)
