"""docs/events.md says what the schemas say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from schemas.codec import Codec
from schemas.definitions import current
from schemas.events import RECORD_TYPES, MarkerRow, Record, RenderCompleted, RenderRequested

PAGE = (Path(__file__).parents[3] / "docs" / "events.md").read_text(encoding="utf-8")


def shown_type(kind: Any) -> str:
    if isinstance(kind, list):
        return " or ".join(shown_type(branch) for branch in kind)
    if isinstance(kind, dict):
        if kind["type"] == "array":
            return f"array of {shown_type(kind['items'])}"
        return str(kind.get("logicalType", kind.get("name")))
    return str(kind)


def shown_default(field: dict[str, Any]) -> str:
    if "default" not in field:
        return ""
    default = field["default"]
    if isinstance(default, list):
        return str(default)
    return {None: "null", True: "true", "": '""'}.get(default, f"`{default}`" if isinstance(default, str) else str(default))


def table(tree: dict[str, Any]) -> str:
    affecting = "output_affecting" in tree["fields"][0]
    head = ["field", "type", "default", "unit"] + ["changes the output"] * affecting + ["meaning"]
    rows = [head, ["---"] * len(head)]
    for field in tree["fields"]:
        changes = [("yes" if field["output_affecting"] else "no")] if affecting else []
        rows.append([f"`{field['name']}`", shown_type(field["type"]), shown_default(field), field["unit"], *changes, field["doc"]])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


@pytest.mark.parametrize("view", RECORD_TYPES, ids=lambda view: view.__name__)
def test_each_record_has_its_table(view: type[Record]) -> None:
    tree = current(view).tree
    assert f"### {view.__name__}\n\n{tree['doc']}\n\n{table(tree)}\n" in PAGE


def test_the_nested_record_has_its_table() -> None:
    (field,) = (field for field in current(RenderCompleted).tree["fields"] if field["name"] == "verification")
    assert f"### Verification\n\n{field['type']['doc']}\n\n{table(field['type'])}\n" in PAGE


def test_the_fingerprints_are_those_of_the_schemas() -> None:
    for view in RECORD_TYPES:
        assert f"| {view.__name__} | `c3 01 {current(view).fingerprint.hex(' ')}` |" in PAGE


def test_the_bytes_shown_decode_to_the_record_shown() -> None:
    (shown,) = re.findall(r"```\n(c3 01 [0-9a-f \n]+)```", PAGE)
    record = MarkerRow(generation=0, attempt=1, outcome="completed", event_id="e-1", expires_at=1_764_400_000_123)
    assert Codec().decode(bytes.fromhex(shown), MarkerRow) == record
    assert repr(record) in PAGE


def test_the_program_shown_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    assert isinstance(names["request"], RenderRequested)
    assert capsys.readouterr().out == "https://example.com/\n"
