"""The member `payload` of a request: an object with a `type` and the fields of that type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from processors.content_types import CONTENT_TYPES
from processors.content_types.declaration import ContentType, Kind, fields_of
from processors.errors import RequestRefused, shown
from processors.json_kinds import kind_of

TYPE: Final = "type"
_LONGEST_GUESS: Final = 40
"""A longer name is no misspelling, and comparing it takes time."""


def payload_of(value: object) -> ContentType:
    """Read a payload as JSON has it; its values are checked by `content()`.

    An array of one string may be that string. Raises RequestRefused (invalid_payload) for what is no object, a type or
    member that is not there, and a member that is missing.
    """
    if not isinstance(value, Mapping):
        raise RequestRefused("invalid_payload", f"payload must be an object with a type and its members, not {kind_of(value)}")
    declared = type_named(value.get(TYPE))
    fields = {field.name: field for field in fields_of(declared)}
    for name in value:
        if name != TYPE and name not in fields:
            raise _unknown(f"payload {declared.DECLARED.name} has no member {shown(name)}", name, fields)
    missing = [name for name, field in fields.items() if field.required and name not in value]
    if missing:
        raise RequestRefused("invalid_payload", f"payload {declared.DECLARED.name} has no {missing[0]} ({fields[missing[0]].doc}); add it")
    return declared(**{name: _as_python(fields[name].kind, member) for name, member in value.items() if name != TYPE})


def type_named(name: object) -> type[ContentType]:
    """The content type of a name. Raises RequestRefused (invalid_payload)."""
    if not isinstance(name, str):
        what = "has no type" if name is None else f"type must be a string, not {kind_of(name)}"
        raise RequestRefused("invalid_payload", f"payload {what}; it is one of {', '.join(CONTENT_TYPES)}")
    if name not in CONTENT_TYPES:
        raise _unknown(f"payload type {shown(name)} is not known", name, CONTENT_TYPES)
    return CONTENT_TYPES[name]


def content_of_payload(value: object) -> str | bytes:
    """The content that a payload stands for. Raises RequestRefused (invalid_payload)."""
    return payload_of(value).content()


def _as_python(kind: Kind, value: Any) -> Any:
    """The value of a member; what has another type stays as it is, for `check` to refuse."""
    if kind is Kind.TEXTS:
        return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    return value


def _unknown(what: str, name: object, known: Iterable[str]) -> RequestRefused:
    names = list(known)
    # A lower-case name is what every type and member has.
    close = get_close_matches(name.lower(), names, 1) if isinstance(name, str) and len(name) <= _LONGEST_GUESS else []
    return RequestRefused("invalid_payload", f"{what}; " + (f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"))
