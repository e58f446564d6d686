from __future__ import annotations

import json
import subprocess
import sys
import types
import typing
import zipfile
from dataclasses import MISSING, fields
from importlib import resources
from typing import Any

import fastavro
import pytest

from schemas.definitions import NAMESPACE, current, fingerprint_of, output_affecting, view_of
from schemas.events import (
    RECORD_TYPES,
    Event,
    Record,
    RenderCompleted,
    RenderRequested,
    RenderSubmitted,
    ResultRow,
    Verification,
)

each_view = pytest.mark.parametrize("view", RECORD_TYPES, ids=lambda view: view.__name__)
_PYTHON = {"string": str, "bytes": bytes, "boolean": bool, "int": int, "long": int, "double": float, "null": type(None)}


def verification_of(view: type[Record]) -> dict[str, Any]:
    (field,) = (field for field in current(view).tree["fields"] if field["name"] == "verification")
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    return next(kind for kind in kinds if kind != "null")


def all_fields() -> list[tuple[str, dict[str, Any]]]:
    trees = [current(view).tree for view in RECORD_TYPES] + [verification_of(RenderCompleted), verification_of(ResultRow)]
    return [(f"{tree['name']}.{field['name']}", field) for tree in trees for field in tree["fields"]]


def python_types(kind: Any) -> set[type]:
    if isinstance(kind, list):
        return set().union(*(python_types(branch) for branch in kind))
    if isinstance(kind, dict):
        if kind["type"] == "array":
            (item,) = python_types(kind["items"])
            return {tuple[item, ...]}  # type: ignore[valid-type]  # made from the schema
        return {Verification} if kind["type"] == "record" else python_types(kind["type"])
    return {_PYTHON[kind]}


def typed_view_matches(view: Any, tree: dict[str, Any]) -> None:
    assert [field.name for field in fields(view)] == [field["name"] for field in tree["fields"]]
    hints = typing.get_type_hints(view)
    for declared, field in zip(fields(view), tree["fields"], strict=True):
        hint = hints[declared.name]
        held = set(typing.get_args(hint)) if isinstance(hint, types.UnionType) else {hint}
        assert held == python_types(field["type"]), declared.name
        default = field.get("default", MISSING)
        default = tuple(default) if isinstance(default, list) else default
        assert declared.default == default, declared.name
        assert type(declared.default) is type(default), declared.name


@each_view
def test_a_typed_view_has_the_fields_types_and_defaults_of_its_schema_in_order(view: type[Record]) -> None:
    typed_view_matches(view, current(view).tree)


@pytest.mark.parametrize("view", [RenderCompleted, ResultRow])
def test_the_nested_verification_has_them_too_and_is_the_same_in_both(view: type[Record]) -> None:
    typed_view_matches(Verification, verification_of(view))
    assert verification_of(RenderCompleted) == verification_of(ResultRow)


@each_view
def test_every_record_is_documented_and_bears_its_views_name_in_the_namespace(view: type[Record]) -> None:
    tree = current(view).tree
    assert (tree["name"], tree["namespace"]) == (view.__name__, NAMESPACE)
    assert current(view).full_name == f"qr.render.v1.{view.__name__}"
    assert len(tree["doc"]) > 20


@pytest.mark.parametrize(("name", "field"), all_fields(), ids=[name for name, _ in all_fields()])
def test_every_field_has_a_doc_that_is_a_sentence_and_a_unit(name: str, field: dict[str, Any]) -> None:
    assert field["doc"].endswith("."), name
    assert len(field["doc"]) > 10, name
    assert field["unit"].strip(), name


@pytest.mark.parametrize("field", current(RenderRequested).tree["fields"], ids=lambda field: field["name"])
def test_every_field_of_a_request_is_declared_output_affecting_or_not(field: dict[str, Any]) -> None:
    assert field["output_affecting"] in (True, False)


def test_these_fields_and_no_others_change_the_artifact() -> None:
    assert output_affecting() == {
        "content", "format", "error_correction", "boost", "scale", "size", "margin", "dark", "light", "profile",
    }  # fmt: skip


def test_a_submission_is_a_request_without_its_id_field_by_field() -> None:
    shared = ("type", "unit", "output_affecting")
    own = {"idempotency_key", "requested_at"}
    requested = [f for f in current(RenderRequested).tree["fields"] if f["name"] != "request_id"]
    submitted = current(RenderSubmitted).tree["fields"]
    assert [f["name"] for f in submitted] == [f["name"] for f in requested]
    for theirs, ours in zip(submitted, requested, strict=True):
        if theirs["name"] not in own:
            assert {name: theirs[name] for name in shared} == {name: ours[name] for name in shared}, ours["name"]
            assert ours["name"] == "content" or theirs["default"] == ours["default"]
    assert [f["name"] for f in submitted if "default" not in f] == ["idempotency_key"]


@each_view
def test_every_instant_is_timestamp_millis_and_says_so_in_its_unit(view: type[Record]) -> None:
    for field in current(view).tree["fields"]:
        kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
        instant = {"type": "long", "logicalType": "timestamp-millis"} in kinds
        assert instant == field["unit"].startswith("ms since 1970"), field["name"]
        assert instant == (field["name"].endswith(("_at", "_until")) or field["name"] == "deadline"), field["name"]


@each_view
def test_a_default_is_of_the_first_branch_of_its_union(view: type[Record]) -> None:
    for field in current(view).tree["fields"]:
        if "default" in field and isinstance(field["type"], list):
            assert isinstance(field["default"], tuple(python_types(field["type"][0]))), field["name"]


@each_view
def test_the_file_is_a_schema_for_fastavro_and_laid_out_as_the_others(view: type[Record]) -> None:
    definition = current(view)
    fastavro.parse_schema(definition.tree)
    assert definition.text == json.dumps(definition.tree, indent=2, ensure_ascii=False) + "\n"


def crc_64_avro(text: bytes) -> int:
    """As the Avro specification gives it, bit by bit."""
    empty = crc = 0xC15D213AA4D7A795
    for byte in text:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (empty & -(crc & 1))
    return crc


def test_the_fingerprint_is_crc_64_avro_of_the_canonical_form_in_little_endian() -> None:
    assert crc_64_avro(b'"null"') == 0x63DD24E7CC258F8A  # the specification's own test vector
    canonical = (
        b'{"name":"qr.render.v1.MarkerRow","type":"record","fields":[{"name":"generation","type":"int"},'
        b'{"name":"attempt","type":"int"},{"name":"outcome","type":["null","string"]},'
        b'{"name":"event_id","type":["null","string"]},{"name":"expires_at","type":"long"}]}'
    )
    marker = view_of("MarkerRow")
    assert marker is not None
    assert current(marker).fingerprint == crc_64_avro(canonical).to_bytes(8, "little")
    assert fingerprint_of("null") == crc_64_avro(b'"null"').to_bytes(8, "little")


def test_the_fingerprints_differ() -> None:
    assert len({current(view).fingerprint for view in RECORD_TYPES}) == len(RECORD_TYPES)


def test_the_folder_holds_a_schema_for_every_view_and_no_other_file() -> None:
    names = {entry.name for entry in (resources.files("schemas") / "avsc").iterdir()}
    assert names == {f"{view.__name__}.avsc" for view in RECORD_TYPES}
    assert set(typing.get_args(Event)) < set(RECORD_TYPES)
    assert view_of("Verification") is None


def test_the_package_reads_its_schemas_from_a_zip_as_from_a_folder(tmp_path: Any) -> None:
    archive = tmp_path / "schemas.zip"
    package = resources.files("schemas")
    with zipfile.ZipFile(archive, "w") as out, resources.as_file(package) as folder:
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".avsc"):
                out.write(file, f"schemas/{file.relative_to(folder)}")
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); import schemas; from schemas.definitions import released;"
        "print('schemas.zip' in schemas.__file__, len(released()))"
    )
    shown = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["True", "8"]
