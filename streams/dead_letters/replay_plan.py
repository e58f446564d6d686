"""What the replay of one letter would be: a new request or submission, or the reason why there is none. Values in, values out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from typing import Final

from processors.arrival import MAX_REQUEST_BYTES
from processors.partitioner import partition_for
from processors.submission import read_submission
from schemas.codec import Codec, UndecodableError
from schemas.events import RenderRequested
from streams.client import key_of
from streams.dead_letters.letter import PREFIX
from streams.dead_letters.received import ReceivedLetter
from streams.deciding import stream_headers
from streams.intake.headers import content_type
from streams.ownership.batch import Headers

MARKS: Final = frozenset({
    stream_headers.GENERATION, stream_headers.ATTEMPT, stream_headers.REROUTED,
    stream_headers.DUE, stream_headers.FIRST_ERROR, stream_headers.LAST_ERROR, stream_headers.FIRST_FAILURE,
})  # fmt: skip
"""Headers of ours that belong to the way of the old request. By name, not by prefix: what a publisher named qr-… is
the publisher's, and a control event stays one."""
REPAIRABLE: Final = frozenset({"wrong_key", "missing_key"})
"""Reasons that a right key answers."""
_UNREAD: Final = "dead letter again, unless the workers can read it by now"
_LAST_GENERATION: Final = 999_999_999
"""More digits are no generation for a worker, which would take the replay for the first time (stream_headers)."""


class Refusal(Enum):
    """Why a letter is not replayed; the value is what to do. The letter stays as it is."""

    undecodable = "--raw replays the bytes as they are; `qrstream dlq export` keeps them"
    value_gone = "the dead letters had no room for its value, and its source no longer has it: ask the publisher to send it again, then discard the letter"
    value_changed = "the record at its source is another one: ask the publisher to send it again, then discard the letter"
    other_source = "only letters of requests and submissions are replayed: export it, send it again by its own way, then discard it"
    not_ours = "the stream did not write it: export it and look at who writes to this topic"
    too_often = "it has been replayed as often as can be counted: send it as a new request, then discard it"
    too_large = "the broker refuses it for its size: raise max.message.bytes of the requested topic, or discard it"


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing is written for a letter; `detail` says what was found, where there is more to say than the code."""

    code: Refusal
    detail: str = ""

    @property
    def line(self) -> str:
        """What was found and what to do."""
        return f"{self.detail}; {self.code.value}" if self.detail else self.code.value


@dataclass(frozen=True, slots=True)
class Replay:
    """The new request or submission of one letter.

    Attributes:
        topic, partition: where the letter's record came from, in the partition of its key.
        note: what will most likely come of it, where that is another failure.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    partition: int
    generation: int
    key_repaired: bool
    note: str | None


@dataclass(frozen=True, slots=True)
class Ways:
    """How letters are replayed: where to, and what the operator allowed.

    Attributes:
        requested, intake: full names of the two topics. partitions: the count of each.
        repair_key: letters that failed for their key get the right one.
        raw: what cannot be decoded is sent again as it is.
    """

    requested: str
    intake: str
    partitions: int
    codec: Codec
    repair_key: bool = False
    raw: bool = False


def plan(letter: ReceivedLetter, ways: Ways, value_at_source: bytes | None, now_ms: int) -> Replay | Refused:
    """Plan one replay.

    `value_at_source` is only looked at where the letter had no room for its value: the bytes at its source, None
    if they are not there.

    Raises:
        RegistryError: a schema registry is needed to decode the value, and does not answer.
    """
    refused = _no_request(letter, ways) or _no_value(letter, value_at_source)
    if refused is not None:
        return refused
    value = value_at_source if letter.value_left_out else letter.value
    if letter.facts["source-topic"] == ways.intake:
        return _submission(letter, ways, value)
    try:
        request = ways.codec.decode(value, RenderRequested)
    except UndecodableError as exc:
        if not ways.raw:
            return Refused(Refusal.undecodable, exc.reason)
        return _replay(letter, ways, value, letter.key, _UNREAD)
    right = key_of(request)[0].encode()
    repaired = ways.repair_key and letter.reason in REPAIRABLE and letter.key != right
    key = right if repaired else letter.key
    return _replay(letter, ways, value, key, _foreseen(letter, request, value, key, right, now_ms))


def _no_request(letter: ReceivedLetter, ways: Ways) -> Refused | None:
    if not letter.ours:
        return Refused(Refusal.not_ours)
    source = letter.facts.get("source-topic")
    if source not in {ways.requested, ways.intake}:
        return Refused(Refusal.other_source, f"it comes from {source}")
    return Refused(Refusal.too_often) if _generation(letter) >= _LAST_GENERATION else None


def _no_value(letter: ReceivedLetter, value_at_source: bytes | None) -> Refused | None:
    if not letter.value_left_out:
        return None
    if value_at_source is None:
        return Refused(Refusal.value_gone)
    same = sha256(value_at_source).hexdigest() == letter.facts["value-sha256"]
    return None if same else Refused(Refusal.value_changed)


def _submission(letter: ReceivedLetter, ways: Ways, value: bytes | None) -> Replay | Refused:
    """Back to the intake under the key it had, right or not: the worker finds the right one in the value."""
    arrival = read_submission(
        value, content_type(letter.headers), partition=0, partitions=ways.partitions, generation=0, rerouted=False, codec=ways.codec
    )
    problem = arrival.problem
    if problem is None:
        return _replay(letter, ways, value, letter.key, None)
    if arrival.readable:
        return _replay(letter, ways, value, letter.key, f"{problem.code} again")
    if not ways.raw:
        return Refused(Refusal.undecodable, problem.message)
    return _replay(letter, ways, value, letter.key, _UNREAD)


def _replay(letter: ReceivedLetter, ways: Ways, value: bytes | None, key: bytes | None, note: str | None) -> Replay:  # what one record is made of
    generation = _generation(letter) + 1
    # A record without key belongs nowhere; where it came from, it fails as it did.
    partition = partition_for(key, ways.partitions) if key else (letter.number("source-partition") or 0) % ways.partitions
    kept = [header for header in letter.headers if header[0] not in MARKS and not header[0].startswith(PREFIX)]
    headers: Headers = [*kept, (stream_headers.GENERATION, b"%d" % generation)]
    return Replay(letter.facts["source-topic"], key, value, headers, partition, generation, key != letter.key, note)


def _generation(letter: ReceivedLetter) -> int:
    return letter.number("generation") or 0


def _foreseen(letter: ReceivedLetter, request: RenderRequested, value: bytes | None, key: bytes | None, right: bytes, now_ms: int) -> str | None:  # what tells
    if len(value or b"") > MAX_REQUEST_BYTES:
        return "request_too_large again"
    if letter.reason in REPAIRABLE and key != right:
        return f"{letter.reason} again; --repair-key gives it the right one"
    if request.deadline is not None and request.deadline < now_ms:
        return "deadline_exceeded: its deadline has passed"
    return None
