"""FIELD=VALUE words of the command line as the members of a payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from processors.content_types.declaration import Kind, fields_of
from processors.content_types.payload import TYPE, content_of_payload, type_named
from streams.cli.failure import CommandFailed
from streams.exit_codes import ExitCode


def content_of_words(name: str, words: Sequence[str]) -> str | bytes:
    """The content of a type and its fields.

    A field that takes several values is given several times; `accounts.26.00=…` is a value inside objects. Raises
    CommandFailed for a word that is no FIELD=VALUE, RequestRefused for what the type refuses.
    """
    return content_of_payload({TYPE: name, **_members(name, words)})


def _members(name: str, words: Sequence[str]) -> dict[str, Any]:
    kinds = {field.name: field.kind for field in fields_of(type_named(name))}
    members: dict[str, Any] = {}
    for word in words:
        path, equals, value = word.partition("=")
        field, *inner = path.split(".")
        if not equals or not field or field == TYPE:
            raise CommandFailed(ExitCode.USAGE, f"with --type, write FIELD=VALUE, not {word!r}; `qrstream content-types {name}` has the fields")
        kind = kinds.get(field)
        if kind is Kind.TEXTS and not inner:
            members.setdefault(field, []).append(value)
        elif kind is Kind.OBJECTS and inner:
            _put(members, [field, *inner], value, word)
        else:
            _put(members, [path], {"true": True, "false": False}.get(value, value) if kind is Kind.FLAG else value, word)
    return members


def _put(members: dict[str, Any], path: list[str], value: Any, word: str) -> None:
    *outer, last = path
    for step in outer:
        members = members.setdefault(step, {})
        if not isinstance(members, dict):
            raise _twice(word)
    if last in members:
        raise _twice(word)
    members[last] = value


def _twice(word: str) -> CommandFailed:
    return CommandFailed(ExitCode.USAGE, f"{word.partition('=')[0]} is there twice, and takes one value")
