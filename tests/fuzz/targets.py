"""What is fuzzed: each takes any bytes and fails where a promise about them does not hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from processors.arrival import read_arrival
from processors.canonical import identify
from processors.content_types import CONTENT_TYPES
from processors.content_types.declaration import Field, Kind, fields_of
from processors.content_types.payload import content_of_payload
from processors.errors import RenderError, RequestRefused
from processors.jsonl import parse_request
from processors.spec import check_envelope
from processors.submission import SubmissionArrival, read_submission
from schemas.codec import Codec

CODEC: Final = Codec()
CONTENT_TYPES_OF_RECORDS: Final = (None, b"application/json", b"application/avro", b"text/plain; x=\xff")
_LONGEST_MESSAGE: Final = 2_000


def request_line(given: bytes) -> None:
    """A line of `qrstream publish`: a request or a refusal, and then a content hash or a refusal."""
    try:
        line = given.decode()
    except UnicodeDecodeError:
        return  # streams/request_lines.py refuses it before
    try:
        request = parse_request(line, request_id="r", requested_at=0)
        check_envelope(request)
        content_hash = identify(request)[1]
    except RequestRefused as refusal:
        _check_said(refusal)
        return
    assert len(content_hash) == 64
    assert identify(parse_request(line, request_id="r", requested_at=0))[1] == content_hash


def submission(given: bytes) -> None:
    """A record of the intake: the first byte chooses its content type."""
    content_type = CONTENT_TYPES_OF_RECORDS[given[0] % len(CONTENT_TYPES_OF_RECORDS)] if given else None
    first, again = (_read_submission(given[1:], content_type) for _ in range(2))
    assert (first.fingerprint, first.content_hash, first.identity) == (again.fingerprint, again.content_hash, again.identity)
    if first.problem is None:
        assert first.fields is not None
        assert first.content_hash is not None
    else:
        _check_said(first.problem)
    assert (len(first.fingerprint) == 32) == (first.identity is not None)
    first.tenant.encode()
    (first.idempotency_key or "").encode()


def _read_submission(value: bytes, content_type: bytes | None) -> SubmissionArrival:
    return read_submission(value, content_type, partition=0, partitions=3, generation=0, rerouted=False, codec=CODEC)


def arrival(given: bytes) -> None:
    """A record of the requested topic; its key is the right one, another, or missing by the first byte."""
    key = (None, b"", b"\xff", b"0" * 64)[given[0] % 4] if given else None
    read = read_arrival(key, given[1:], partition=0, partitions=3, generation=0, attempt=1, rerouted=False, codec=CODEC)
    assert read.problem is not None  # no key of these is any content's hash
    _check_said(read.problem)
    assert (read.request is None) == (read.problem.code == "undecodable")


def payload(given: bytes) -> None:
    """A payload: JSON where it begins with a brace; else a type's number, then fields as number and value, NUL between them."""
    value = _json(given) if given.startswith(b"{") else _fields(given)
    try:
        content = content_of_payload(value)
    except RequestRefused as refusal:
        _check_said(refusal, code="invalid_payload")
        return
    assert content
    assert (content if isinstance(content, bytes) else content.encode())
    assert content_of_payload(value) == content


def _json(given: bytes) -> Any:
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return None


def _fields(given: bytes) -> dict[str, Any]:
    names = list(CONTENT_TYPES)
    name = names[given[0] % len(names)] if given else names[0]
    fields = fields_of(CONTENT_TYPES[name])
    members: dict[str, Any] = {"type": name}
    for piece in given[1:].split(b"\x00"):
        if piece:
            field = fields[piece[0] % len(fields)]
            # A lone surrogate can come in JSON, so it can here.
            _add(members, field, piece[1:].decode("utf-8", "surrogateescape"))
    return members


def _add(members: dict[str, Any], field: Field, text: str) -> None:
    match field.kind:
        case Kind.TEXTS:
            members.setdefault(field.name, []).append(text)
        case Kind.FLAG:
            members[field.name] = bool(text)
        case Kind.OBJECTS:
            outer, inner, value = text[:2], text[2:4], text[4:]
            objects = members.setdefault(field.name, {})
            if inner and isinstance(objects.setdefault(outer, {}), dict):
                objects[outer][inner] = value
            elif not inner:
                objects[outer] = "x"
        case Kind.TEXT | Kind.DECIMAL:
            members[field.name] = text


def _check_said(problem: RenderError, code: str | None = None) -> None:
    """One line that an Avro string holds; of the code, where that is given."""
    assert code in {None, problem.code}
    assert "\n" not in problem.message
    assert len(problem.message) < _LONGEST_MESSAGE
    problem.message.encode()


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = MappingProxyType({
    "request_line": request_line, "submission": submission, "arrival": arrival, "payload": payload,
})
