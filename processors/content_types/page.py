"""docs/content-types.md and what `qrstream content-types` prints, from the declarations."""

from __future__ import annotations

import json
from typing import Any

from processors.content_types import CONTENT_TYPES, ContentType
from processors.content_types.declaration import Field, Kind, fields_of
from processors.content_types.payload import TYPE, content_of_payload


def signature(declared: type[ContentType]) -> str:
    """The fields in one line, those that may be left out in brackets."""
    return " ".join(field.name if field.required else f"[{field.name}]" for field in fields_of(declared))


def takes(field: Field) -> str:
    """What a member's value is in JSON."""
    return f"{field.kind.value}{', or one string' if field.kind is Kind.TEXTS else ''}{', or null' if field.nullable else ''}"


def example_payload(declared: type[ContentType]) -> dict[str, Any]:
    """The example as a request has it."""
    return {TYPE: declared.DECLARED.name, **declared.DECLARED.example}


def example_content(declared: type[ContentType]) -> str:
    """What becomes of the example, as people read it: bytes in hexadecimal, lines as the page's own."""
    content = content_of_payload(example_payload(declared))
    return content.hex(" ") if isinstance(content, bytes) else content.replace("\r\n", "\n").rstrip("\n")


def overview() -> str:
    """The table of all types."""
    rows = [f"| [`{name}`](#{name}) | {declared.DECLARED.summary} | {declared.DECLARED.standard} |" for name, declared in CONTENT_TYPES.items()]
    return "\n".join(["| type | what | standard |", "|---|---|---|", *rows]) + "\n"


def section(declared: type[ContentType]) -> str:
    """All about one type."""
    rows = [
        f"| `{field.name}` | {takes(field)} | {'yes' if field.required else 'no'} | {field.doc.replace('|', chr(92) + '|')} |"
        for field in fields_of(declared)
    ]
    return "\n".join([
        f"## {declared.DECLARED.name}",
        f"{declared.DECLARED.summary[0].upper()}{declared.DECLARED.summary[1:]}.",
        "",
        "| member | takes | needed | meaning |",
        "|---|---|---|---|",
        *rows,
        "",
        *(f"- {note}" for note in declared.DECLARED.notes),
        "",
        "```json",
        json.dumps({"payload": example_payload(declared)}, ensure_ascii=False),
        "```",
        "",
        "```",
        example_content(declared),
        "```",
    ]) + "\n"


def markdown() -> str:
    """The part of docs/content-types.md that is made from the declarations."""
    return "\n".join([overview(), *(section(declared) for declared in CONTENT_TYPES.values())])
