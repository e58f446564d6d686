"""What a stream has done, found out without any of its code: outcomes, renders, duplicates, ghosts, wrong bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256

from tests.support.artifact_check import content_of
from tests.support.outcome_reader import Outcome
from tests.support.publisher import Expected


@dataclass
class Verdict:
    """The oracle's findings about one stream.

    Attributes:
        by_source: completed outcomes by source; by_error: failed ones by code.
        faults: one line for everything that must not be.
        aborted: records that only a read_uncommitted consumer sees.
        encoder_calls: in all worker processes together.
    """

    requests: int
    outcomes: int = 0
    missing: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    ghosts: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    by_source: Counter[str] = field(default_factory=Counter)
    by_error: Counter[str] = field(default_factory=Counter)
    aborted: int = 0
    encoder_calls: int = 0

    @property
    def faults(self) -> list[str]:
        """Empty for a stream that kept its promise."""
        named = {"missing": self.missing, "duplicated": self.duplicated, "ghosts": self.ghosts, "wrong": self.wrong}
        return [f"{len(found)} {name}: {found[:5]}" for name, found in named.items() if found]


def judge(expected: dict[str, Expected], ghosts: set[str], outcomes: list[Outcome]) -> Verdict:
    """Hold outcomes against what was published.

    Each request has one outcome, each valid content hash one render, and each completed event the bytes that say
    its content: equal for equal hashes, with the right checksum and size.
    """
    verdict = Verdict(requests=len(expected), outcomes=len(outcomes))
    seen: Counter[str] = Counter(outcome.fields["request_id"] for outcome in outcomes)
    verdict.missing = sorted(expected.keys() - seen.keys())
    verdict.duplicated = sorted(request_id for request_id, times in seen.items() if times > 1)
    verdict.ghosts = sorted(request_id for request_id in seen if request_id in ghosts or request_id not in expected)
    artifacts: dict[str, bytes] = {}
    for outcome in outcomes:
        fields = outcome.fields
        wanted = expected.get(fields["request_id"])
        if outcome.kind == "completed":
            verdict.by_source[fields["source"]] += 1
        else:
            verdict.by_error[fields["error_code"]] += 1
        if wanted is not None:
            verdict.wrong += [f"{wanted.request_id}: {fault}" for fault in _faults(wanted, outcome, artifacts)]
    return verdict


def _faults(wanted: Expected, outcome: Outcome, artifacts: dict[str, bytes]) -> list[str]:
    fields = outcome.fields
    if outcome.kind == "failed":
        return [] if fields["error_code"] == wanted.error else [f"failed with {fields['error_code']}, expected {wanted.error}"]
    if wanted.error is not None:
        return [f"completed, expected {wanted.error}"]
    faults = []
    if fields["content_hash"] != wanted.key or outcome.key != wanted.key.encode():
        faults.append(f"content hash {fields['content_hash']} under key {outcome.key!r}, expected {wanted.key}")
    artifact = fields["artifact"]
    if artifact is None:
        return [*faults, "no artifact"]
    if sha256(artifact).hexdigest() != fields["checksum"] or len(artifact) != fields["size_bytes"]:
        faults.append("checksum or size is not the artifact's")
    first = artifacts.setdefault(wanted.key, artifact)
    if first is not artifact and first != artifact:
        faults.append("other bytes than an earlier outcome of the same hash")
    elif first is artifact and (said := content_of(artifact, fields["media_type"])) != wanted.content:
        faults.append(f"the symbol says {said[:80]!r}, expected {wanted.content[:80]!r}")
    return faults
