"""One line of `qrstream publish` (JSON Lines) as a request."""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Never

from processors.errors import RequestRefused, shown
from schemas.events import RenderRequested

ANNOTATIONS: Final = frozenset({"note", "expect"})
"""Members for the reader of a file of requests; never published."""

_TEXTS: Final = ("request_id", "tenant", "format", "error_correction", "profile", "deliver")
_TEXTS_OR_NULL: Final = ("idempotency_key", "dark", "light")
_NUMBERS_OR_NULL: Final = ("scale", "size")
_INSTANTS: Final = ("deadline", "requested_at")
_MEMBERS: Final = frozenset(
    {
        *_TEXTS,
        *_TEXTS_OR_NULL,
        *_NUMBERS_OR_NULL,
        *_INSTANTS,
        *ANNOTATIONS,
        "content",
        "content_base64",
        "boost",
        "margin",
    }
)
_KINDS: Final = {
    str: "this string",
    bool: "true or false",
    int: "this number",
    float: "this number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_request(line: str, *, request_id: str, requested_at: int) -> RenderRequested:
    """Read one line; what it leaves out takes the default of the schema and profile.

    request_id, requested_at (ms since the epoch, UTC): taken where the line has none.
    Instants are whole milliseconds since the epoch or RFC 3339 with an offset.
    Raises RequestRefused: invalid_request for what is no request at all,
    invalid_option for a member of the wrong JSON type, invalid_content for bad
    base64, content_empty without content. Values are checked by `spec.validate`,
    so an unpaired surrogate in the content passes.
    """
    members = _members(line)
    fields: dict[str, Any] = {"request_id": request_id, "requested_at": requested_at}
    fields["content"] = _content(members)
    for name, value in members.items():
        if name in ANNOTATIONS or name in ("content", "content_base64"):
            continue
        fields[name] = _typed(name, value)
    return RenderRequested(**fields)


def _members(line: str) -> dict[str, Any]:
    try:
        members = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RequestRefused:
        raise
    except (ValueError, RecursionError) as error:
        raise RequestRefused("invalid_request", f"the line is not JSON: {error}") from error
    if not isinstance(members, dict):
        raise RequestRefused("invalid_request", "the line is JSON, but not an object")
    unknown = sorted(members.keys() - _MEMBERS)
    if unknown:
        raise RequestRefused(
            "invalid_request",
            f"a request has no member {shown(unknown[0])}; it has "
            f"{', '.join(sorted(_MEMBERS - ANNOTATIONS))}",
        )
    return members


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestRefused("invalid_request", f"the member {shown(twice)} is there twice")
    return members


def _no_constant(name: str) -> Never:
    raise RequestRefused("invalid_request", f"{name} is not a JSON number (RFC 8259 section 6)")


def _content(members: dict[str, Any]) -> str | bytes:
    if "content" in members and "content_base64" in members:
        raise RequestRefused("invalid_request", "content and content_base64 exclude each other")
    if "content" in members:
        return _text("content", members["content"])
    if "content_base64" not in members:
        raise RequestRefused("content_empty", "the line has neither content nor content_base64")
    encoded = _text("content_base64", members["content_base64"])
    try:
        return b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RequestRefused(
            "invalid_content",
            f"content_base64 is not padded base64 of RFC 4648 section 4: {error}",
        ) from error


def _typed(name: str, value: object) -> object:
    if name in _INSTANTS:
        return None if value is None and name == "deadline" else _instant(name, value)
    if name == "boost":
        if not isinstance(value, bool):
            raise _wrong_type(name, "true or false", value)
        return value
    if name == "margin" or (name in _NUMBERS_OR_NULL and value is not None):
        return _number(name, value)
    if name in _TEXTS or value is not None:
        return _text(name, value)
    return None


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong_type(name, "a string", value)
    return value


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_type(name, "a number", value)
    try:
        return float(value)
    except OverflowError as error:
        raise RequestRefused("invalid_option", f"{name} is larger than a double holds") from error


def _instant(name: str, value: object) -> int:
    expected = "whole milliseconds since 1970 or an RFC 3339 instant with its offset"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
        return value
    if not isinstance(value, str):
        raise _wrong_type(name, expected, value)
    try:
        instant = datetime.fromisoformat(value)
    except ValueError as error:
        raise _wrong_type(name, expected, value) from error
    if instant.tzinfo is None:
        raise _wrong_type(name, expected, value)
    return (instant - _EPOCH) // timedelta(milliseconds=1)


def _wrong_type(name: str, expected: str, value: object) -> RequestRefused:
    # The value itself stays out of the message: it may be content.
    found = _KINDS[type(value)]
    return RequestRefused("invalid_option", f"{name} must be {expected}, not {found}")
