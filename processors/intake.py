"""The decision about one submission: pure, no clock, no I/O.

One key of one tenant is one intent: the first payload under it is forwarded or refused once, the same payload again
changes nothing, another payload is a conflict. The rules stand in the order in which they are asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeAlias

from processors.decide import DeadLetter, Drop, Reroute
from processors.errors import RenderError, RequestRefused, StreamRefused

if TYPE_CHECKING:
    from processors.submission import Identity, SubmissionArrival
    from schemas.events import ClaimRow

REFUSED: Final = "refused-"
"""Begins the id of every submission that ends at the intake; a content hash never begins so."""
FORWARDED_STATE: Final = "forwarded"
REFUSED_STATE: Final = "refused"


@dataclass(frozen=True, slots=True)
class Forward:
    """Send the submission on to be rendered, and claim its key."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Publish a failed event; `error.row` says what else. claims: its key is taken by this payload from now on."""

    error: RenderError
    claims: bool


IntakeDecision: TypeAlias = DeadLetter | Reroute | Drop | Forward | Refuse


def decide_submission(arrival: SubmissionArrival, claim: ClaimRow | None, now_ms: int) -> IntakeDecision:
    """Decide what happens to a submission that lies at or above the owner's position.

    claim: the row of `claim_key`; now_ms: the wall clock in milliseconds since the epoch, UTC. Raises nothing.
    """
    return _without_identity(arrival) or _elsewhere(arrival) or _claimed_before(arrival, claim, now_ms) or _first(arrival)


def _without_identity(arrival: SubmissionArrival) -> DeadLetter | Refuse | None:
    """Nobody's intent can be claimed: each such record is told by itself."""
    if not arrival.readable:
        return DeadLetter(arrival.problem or RequestRefused("undecodable"))
    if arrival.identity is None:
        return Refuse(arrival.problem or RequestRefused("invalid_option"), claims=False)
    return None


def _elsewhere(arrival: SubmissionArrival) -> Reroute | Refuse | None:
    """The claim lies in the partition of tenant NUL key, so a misplaced record goes there first."""
    home = arrival.home_partition
    if home is None or home == arrival.partition:
        return None
    return Refuse(_wrong_partition(arrival, home), claims=False) if arrival.rerouted else Reroute(home)


def _claimed_before(arrival: SubmissionArrival, claim: ClaimRow | None, now_ms: int) -> Drop | Refuse | None:
    if claim is None or claim.expires_at <= now_ms:
        return None
    if claim.fingerprint != arrival.fingerprint:
        return Refuse(_conflict(claim), claims=False)
    # A replay of a dead letter carries the next generation, and is asked for by an operator: it is decided anew.
    return Drop("duplicate") if arrival.generation <= claim.generation else None


def _first(arrival: SubmissionArrival) -> Forward | Refuse:
    return Forward() if arrival.problem is None else Refuse(arrival.problem, claims=True)


def _conflict(claim: ClaimRow) -> RenderError:
    was = f"refused with {claim.error_code}" if claim.state == REFUSED_STATE else "forwarded"
    return StreamRefused(
        "idempotency_conflict",
        f"the idempotency key was used before for another payload, request {claim.request_id} ({was}), which stands; "
        "send a new intent under a new key",
    )


def _wrong_partition(arrival: SubmissionArrival, home: int) -> RenderError:
    return StreamRefused(
        "wrong_partition",
        f"the key belongs in partition {home}, the record came to {arrival.partition} after it was routed once; "
        "the topic's partition count and the workers' differ",
    )


def claim_key(identity: Identity) -> bytes:
    """Name the row of an idempotency key in the table `claims`."""
    return b"claim/" + identity.key


def forwarded_id(content_hash: str, identity: Identity) -> str:
    """Name a request that is sent on: its content hash, which tells its owner, and 16 hex digits of its key's hash."""
    return f"{content_hash}-{sha256(identity.key).hexdigest()[:16]}"


def refused_id(fingerprint: bytes, identity: Identity) -> str:
    """Name a refused submission that has claimed its key; the same each time it is sent."""
    return REFUSED + sha256(fingerprint + identity.key).hexdigest()[:32]


def unclaimed_id(source_id: str, partition: int, offset: int) -> str:
    """Name a refused submission that has no claim, by its place: no other record ever has this id.

    source_id: UUID of the topic, so that one made anew under the same name does not repeat ids.
    """
    return f"{REFUSED}{partition}-{offset}-{sha256(f'{source_id}/{partition}/{offset}'.encode()).hexdigest()[:16]}"
