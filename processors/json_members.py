"""Members of a request that is written as a JSON object (RFC 8259): names, types, content."""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Never

from processors.content_types.payload import content_of_payload
from processors.errors import RequestRefused, shown
from processors.json_kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_TEXTS: Final = ("request_id", "tenant", "format", "error_correction", "profile", "deliver")
_TEXTS_OR_NULL: Final = ("idempotency_key", "dark", "light")
_NUMBERS_OR_NULL: Final = ("scale", "size")
_INSTANTS: Final = ("deadline", "requested_at")
CONTENT: Final = ("content", "content_base64", "payload")
"""Exactly one of them is there: text, bytes in padded base64, or the fields of a content type."""
MEMBERS: Final = frozenset({*_TEXTS, *_TEXTS_OR_NULL, *_NUMBERS_OR_NULL, *_INSTANTS, *CONTENT, "boost", "margin"})
"""Every member that a request may have."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def json_object(text: str, noun: str) -> dict[str, Any]:
    """Read one object; `noun` is what messages call the text.

    Raises RequestRefused (invalid_request) for anything else, and for a member that is there twice.
    """
    try:
        members = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RequestRefused:
        raise
    except (ValueError, RecursionError) as error:
        raise RequestRefused("invalid_request", f"{noun} is not JSON: {error}") from error
    if not isinstance(members, dict):
        raise RequestRefused("invalid_request", f"{noun} is JSON, but not an object")
    return members


def unknown_member(members: dict[str, Any], allowed: AbstractSet[str]) -> str | None:
    """One line about the first member that a request does not have, or None."""
    unknown = sorted(members.keys() - allowed)
    return f"a request has no member {shown(unknown[0])}; it has {', '.join(sorted(allowed))}" if unknown else None


def excluded(members: dict[str, Any]) -> str | None:
    """One line about two members that say the content, or None."""
    given = [name for name in CONTENT if name in members]
    return f"{given[0]} and {given[1]} exclude each other; send one" if len(given) > 1 else None


def content_of(members: dict[str, Any], noun: str) -> str | bytes:
    """The content. Raises RequestRefused where it is not there exactly once, is no base64, or no sound payload."""
    twice = excluded(members)
    if twice is not None:
        raise RequestRefused("invalid_request", twice)
    if "content" in members:
        return text_of("content", members["content"])
    if "payload" in members:
        return content_of_payload(members["payload"])
    if "content_base64" not in members:
        raise RequestRefused("content_empty", f"{noun} has neither content nor content_base64, and no payload")
    encoded = text_of("content_base64", members["content_base64"])
    try:
        return b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RequestRefused(
            "invalid_content",
            f"content_base64 is not padded base64 of RFC 4648 section 4: {error}",
        ) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        # Counted in one pass: a record of a mebibyte has a hundred thousand members, and comparing each with all takes minutes.
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise RequestRefused("invalid_request", f"the member {shown(twice)} is there twice")
    return members


def _no_constant(name: str) -> Never:
    raise RequestRefused("invalid_request", f"{name} is not a JSON number (RFC 8259 section 6)")


def typed(name: str, value: object) -> Any:
    """The value of a member other than the content, of its Python type. Raises RequestRefused (invalid_option)."""
    if name in _INSTANTS:
        return None if value is None and name == "deadline" else _instant(name, value)
    if name == "boost":
        if not isinstance(value, bool):
            raise _wrong_type(name, "true or false", value)
        return value
    if name == "margin" or (name in _NUMBERS_OR_NULL and value is not None):
        return _number(name, value)
    if name in _TEXTS or value is not None:
        return text_of(name, value)
    return None


def text_of(name: str, value: object) -> str:
    """A string. Raises RequestRefused (invalid_option)."""
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
    return RequestRefused("invalid_option", f"{name} must be {expected}, not {kind_of(value)}")
