"""What one record of the intake is: Avro or JSON, as far as it can be read, before anything is decided about it."""

from __future__ import annotations

import json
from base64 import b64encode
from codecs import BOM_UTF8
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from processors.arrival import MAX_REQUEST_BYTES
from processors.canonical import identify
from processors.errors import RenderError, RequestRefused, StreamRefused
from processors.json_members import CONTENT, MEMBERS, content_of, excluded, json_object, text_of, typed, unknown_member
from processors.partitioner import partition_for
from processors.spec import check_delivery, check_name
from schemas.codec import CONFLUENT_MARKER, SINGLE_OBJECT_MARKER, Codec, UndecodableError
from schemas.events import RenderSubmitted

JSON_MEMBERS: Final = MEMBERS - {"request_id"}
"""Members of a JSON submission."""
PAYLOAD_DOMAIN: Final = b"qr-submission/1\n"
AS_READ_DOMAIN: Final = b"qr-submission-as-read/1\n"

_AVRO_TYPES: Final = frozenset({"application/avro", "avro/binary", "application/vnd.apache.avro", "application/vnd.apache.avro+binary"})
_JSON_TYPES: Final = frozenset({"application/json", "text/json"})
_BLANKS: Final = b" \t\r\n"
_DEFAULT_TENANT: Final = "default"
_NOT_PAYLOAD: Final = ("tenant", "idempotency_key", "requested_at")
_MOST_SAID: Final = 1_024


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose intent a submission is; both names are valid, and the tenant holds no NUL."""

    tenant: str
    idempotency_key: str

    @property
    def key(self) -> bytes:
        """The record's key: UTF-8 of tenant NUL idempotency key."""
        return f"{self.tenant}\x00{self.idempotency_key}".encode()


@dataclass(slots=True)
class SubmissionArrival:
    """One record of the intake, read as far as it can be; never changed.

    readable: it is an object of one of the two forms. identity: None where the tenant or key is not valid, whatever
    else the record holds. tenant, idempotency_key: what an event may say of them. fields: None where a member has a
    wrong type. content_hash: None without a canonical form. fingerprint: of the payload, 32 bytes; empty without an
    identity. home_partition: where tenant NUL key belongs, whatever key the record has. problem: the first fault found.
    """

    partition: int
    rerouted: bool
    generation: int
    problem: RenderError | None = None
    readable: bool = False
    tenant: str = _DEFAULT_TENANT
    idempotency_key: str | None = None
    identity: Identity | None = None
    home_partition: int | None = None
    fields: RenderSubmitted | None = None
    content_hash: str | None = None
    fingerprint: bytes = b""


def read_submission(  # noqa: PLR0913 - a record has that many coordinates
    value: bytes | None,
    content_type: bytes | None,
    *,
    partition: int,
    partitions: int,
    generation: int,
    rerouted: bool,
    codec: Codec,
    tenants_apart: bool = False,
) -> SubmissionArrival:
    """Read a record; whatever is wrong with it ends in `problem`, never in an exception.

    The problem is the first of: undecodable, a wrong tenant or idempotency key, request_too_large, a member that is
    unknown or has a wrong type, a wrong value. RegistryUnavailableError passes: it says nothing about the record.
    """
    arrival = SubmissionArrival(partition, rerouted, generation)
    try:
        held = _object(value, content_type, codec)
    except RequestRefused as refusal:
        arrival.problem = refusal
        return arrival
    arrival.readable = True
    try:
        arrival.identity = _identity(held, arrival)
    except RequestRefused as refusal:
        arrival.problem = refusal
        return arrival
    arrival.home_partition = partition_for(arrival.identity.key, partitions)
    try:
        arrival.fields = held if isinstance(held, RenderSubmitted) else _typed(held)
        arrival.content_hash = _checked(arrival.fields, len(value or b""), tenants_apart=tenants_apart)
    except RenderError as error:
        arrival.problem = error
    arrival.fingerprint = _fingerprint(held, arrival, value or b"")
    return arrival


def _object(value: bytes | None, content_type: bytes | None, codec: Codec) -> RenderSubmitted | dict[str, Any]:
    if value is None:
        raise RequestRefused("undecodable", "the record has no value")
    if _is_json(value, content_type):
        try:
            return json_object(value.removeprefix(BOM_UTF8).decode(), "the value")
        except UnicodeDecodeError as error:
            raise RequestRefused("undecodable", f"the value is JSON, but byte {error.start + 1} is not UTF-8") from error
        except RequestRefused as refusal:
            raise RequestRefused("undecodable", refusal.message) from refusal
    try:
        return codec.decode(value, RenderSubmitted)
    except UndecodableError as error:
        raise RequestRefused("undecodable", f"the value is no RenderSubmitted: {error}") from error


def _is_json(value: bytes, content_type: bytes | None) -> bool:
    """By the header where it names one of the two; else by the bytes: a JSON object begins with a brace, Avro never."""
    named = (content_type or b"").decode("latin-1").partition(";")[0].strip().lower()
    if named in _JSON_TYPES or named in _AVRO_TYPES:
        return named in _JSON_TYPES
    if value.startswith((SINGLE_OBJECT_MARKER, CONFLUENT_MARKER)):
        return False
    return value.removeprefix(BOM_UTF8).lstrip(_BLANKS).startswith(b"{")


def _identity(held: RenderSubmitted | dict[str, Any], arrival: SubmissionArrival) -> Identity:
    if isinstance(held, RenderSubmitted):
        tenant, key = held.tenant, held.idempotency_key
        arrival.tenant, arrival.idempotency_key = _said(tenant), _said(key)
    else:
        if isinstance(given := held.get("tenant"), str):
            arrival.tenant = _said(given)
        if isinstance(given := held.get("idempotency_key"), str):
            arrival.idempotency_key = _said(given)
        if held.get("idempotency_key") is None:
            raise RequestRefused("invalid_option", "idempotency_key is missing; name the intent, so that sending it again is safe")
        tenant, key = text_of("tenant", held.get("tenant", _DEFAULT_TENANT)), text_of("idempotency_key", held["idempotency_key"])
    check_name("tenant", tenant)
    check_name("idempotency_key", key, nul_allowed=True)
    return Identity(tenant, key)


def _said(text: str) -> str:
    """What an event may repeat of a name that may be wrong: UTF-8 can hold it, and it is no longer than a few lines."""
    return text[:_MOST_SAID].encode("utf-8", "replace").decode()


def _typed(members: dict[str, Any]) -> RenderSubmitted:
    unknown = unknown_member(members, JSON_MEMBERS)
    if unknown is not None:
        raise RequestRefused("unknown_member", unknown)
    fields = {
        name: typed(name, value) for name, value in members.items() if name not in CONTENT and not (name == "requested_at" and value is None)
    }
    twice = excluded(members)
    if twice is not None:
        raise RequestRefused("invalid_option", twice)
    if any(name in members for name in CONTENT):
        fields["content"] = content_of(members, "the value")
    return RenderSubmitted(**fields)


def _checked(fields: RenderSubmitted, size_bytes: int, *, tenants_apart: bool) -> str:
    """The content hash of a sound submission. Raises RenderError for any other."""
    if size_bytes > MAX_REQUEST_BYTES:
        raise StreamRefused("request_too_large", f"the value has {size_bytes:,} bytes, at most {MAX_REQUEST_BYTES:,} are taken")
    check_delivery(fields.deliver)
    return identify(fields, tenants_apart=tenants_apart)[1]


def _fingerprint(held: RenderSubmitted | dict[str, Any], arrival: SubmissionArrival, value: bytes) -> bytes:
    """What makes two payloads under one key the same; docs/intake.md says it for clients."""
    fields = arrival.fields
    if arrival.content_hash is not None and fields is not None:
        deadline = "" if fields.deadline is None else fields.deadline
        return sha256(PAYLOAD_DOMAIN + f"{arrival.content_hash}\n{fields.deliver}\n{deadline}".encode()).digest()
    return sha256(AS_READ_DOMAIN + _as_read(held if fields is None else fields, value)).digest()


def _as_read(held: RenderSubmitted | dict[str, Any], value: bytes) -> bytes:
    """Every member of the payload, for a submission that has no canonical form."""
    members = {name: getattr(held, name) for name in held.__slots__} if isinstance(held, RenderSubmitted) else dict(held)
    for name in _NOT_PAYLOAD:
        members.pop(name, None)
    if isinstance(content := members.get("content"), bytes):
        members["content"] = {"base64": b64encode(content).decode()}
    try:
        return json.dumps(members, sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:  # nested as deep as it could just be read
        return value
