"""``qrstream content-types``: what a payload can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from processors.content_types import ContentType

EPILOG = """\b
Examples:
  qrstream content-types                       every type with its fields; [field] may be left out
  qrstream content-types wifi                  its fields, and an example
  qrstream render --type wifi ssid='Blue Door' password='milk;sugar'

\b
docs/content-types.md has the same with the standards' clauses.
"""


def content_types(
    name: Annotated[str | None, typer.Argument(metavar="TYPE", help="Show one type.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a type.")] = False,
) -> None:
    """Print the types of content that a request can have as `payload`."""
    from processors.content_types import CONTENT_TYPES
    from processors.content_types.page import signature
    from processors.content_types.payload import type_named
    from streams.cli.output import print_json

    shown = CONTENT_TYPES.values() if name is None else [type_named(name)]
    if as_json:
        for declared in shown:
            print_json(_plain(declared))
    elif name is None:
        for declared in shown:
            print(f"{declared.DECLARED.name:<6} {signature(declared)}")
    else:
        _show(type_named(name))


def _show(declared: type[ContentType]) -> None:
    import json
    import shlex

    from processors.content_types.declaration import fields_of
    from processors.content_types.page import example_content, example_payload, takes

    said = declared.DECLARED
    print(f"{said.name}: {said.summary}\n{said.standard}\n")
    for field in fields_of(declared):
        print(f"  {field.name:<20} {field.doc}{'' if field.required else ' (may be left out)'}\n{'':<22} {takes(field)}")
    words = " ".join(shlex.quote(word) for word in _words(said.example))
    print(f"\nqrstream render --type {said.name} {words}")
    print(json.dumps({"payload": example_payload(declared)}, ensure_ascii=False))
    print(f"\n{example_content(declared)}")
    for note in said.notes:
        print(f"\n{note}")


def _words(value: Any, path: str = "") -> list[str]:
    """An example as the command line has it."""
    if isinstance(value, dict):
        return [word for name, inner in value.items() for word in _words(inner, f"{path}.{name}" if path else name)]
    if isinstance(value, list):
        return [word for inner in value for word in _words(inner, path)]
    return [f"{path}={value}"]


def _plain(declared: type[ContentType]) -> dict[str, Any]:
    from processors.content_types.declaration import fields_of
    from processors.content_types.page import example_payload, takes

    said = declared.DECLARED
    return {
        "type": said.name, "summary": said.summary, "standard": said.standard, "notes": list(said.notes),
        "fields": [{"name": field.name, "takes": takes(field), "needed": field.required, "meaning": field.doc} for field in fields_of(declared)],
        "example": example_payload(declared),
    }
