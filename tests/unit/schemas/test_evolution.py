from __future__ import annotations

import copy
import hashlib
import io
from importlib import resources
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import resolving
from schemas.codec import SINGLE_OBJECT_MARKER, Codec
from schemas.definitions import Definition, current, released, view_of
from schemas.events import RECORD_TYPES, RenderRequested, ResultRow, Verification
from schemas.evolution import obstacles
from tests.unit.schemas.records import NOW, PATIENT

# A released file is what records on other people's disks were written with. It is never edited: a changed schema is
# a new file in the next release's folder, and a new line here.
RELEASED_SHA256 = {
    "v1/ClaimRow.avsc": "c0c636e0a78f8145b6461ea1a2eeb4dce2fc85b3fd3d3028997b4e0152fe65b2",
    "v1/DlqDisposition.avsc": "97251ca7525c1d83eb796f3cd190717d24a19bfd72950bc908a9dae323a7a632",
    "v1/MarkerRow.avsc": "02258419327c06a7890d3728ff0d5d6103aadda500a7bfe8c1ffa068c5758ce9",
    "v1/RenderCompleted.avsc": "c227a1f96dd70faf6f00a706a36bd270e02f45c946a624be5270a130b658bbde",
    "v1/RenderFailed.avsc": "39f21aac24010bfb294bd3e6edfca7869bfe35325693705c353b94113cc2d65f",
    "v1/RenderRequested.avsc": "e2677a51b51a26b182698a040a8238eb368155a3bfcb07e3e6f1a49ab8c77df4",
    "v1/RenderSubmitted.avsc": "f98adb3564d5da5cb9fc6f8cf903dda3378bb51400857eef7e03e69f9b49fcbb",
    "v1/ResultRow.avsc": "98d9fef7428cfc8c2bc146face1f72fbf5287eb26a9d74662c562407cbbd2c11",
}


def test_released_schemas_are_never_edited_added_or_removed_unseen() -> None:
    folder = resources.files("schemas") / "released"
    found = {
        f"{release.name}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()
        for release in folder.iterdir() if release.is_dir()
        for file in release.iterdir()
    }  # fmt: skip
    assert found == RELEASED_SHA256


each_release = pytest.mark.parametrize(
    "written", [definition for _, definition in released()], ids=[f"{release}-{definition.name}" for release, definition in released()]
)


def tree_of(written: Definition) -> Any:
    view = view_of(written.name)
    assert view is not None
    return current(view).tree


@each_release
def test_the_schema_in_force_reads_every_released_one(written: Definition) -> None:
    assert obstacles(tree_of(written), written.tree) == []


@each_release
@PATIENT
@given(data=st.data())
def test_data_of_every_released_schema_decodes_today(written: Definition, data: st.DataObject) -> None:
    view = view_of(written.name)
    assert view is not None
    value = data.draw(VALUES[written.name, written.fingerprint])
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(resolving.plain(written.tree)), value)
    raw = SINGLE_OBJECT_MARKER + written.fingerprint + out.getvalue()
    decoded = Codec().decode(raw, view)
    # By the long way too, which a released schema takes once it is no longer the one in force.
    assert resolving.decoder(view, current(view).tree, written.tree)(raw, 10) == decoded
    for name in value.keys() & view.__slots__:
        held = getattr(decoded, name)
        assert (held if not isinstance(held, Verification) else as_tree(held, value[name])) == value[name]


def as_tree(verification: Verification, written: dict[str, Any]) -> dict[str, Any]:
    """What the writer has said of it; what a later release has added keeps its default."""
    assert all(getattr(verification, name) == () for name in set(Verification.__slots__) - set(written))
    return {name: getattr(verification, name) for name in written}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of an Avro type."""
    if isinstance(kind, list):
        return st.one_of(*(values(branch) for branch in kind))
    if isinstance(kind, dict):
        if kind["type"] == "record":
            return st.fixed_dictionaries({field["name"]: values(field["type"]) for field in kind["fields"]})
        return values(kind["type"])
    plain: dict[str, st.SearchStrategy[Any]] = {
        "null": st.none(),
        "boolean": st.booleans(),
        "int": st.integers(-(1 << 31), (1 << 31) - 1),
        "long": st.integers(-(1 << 63), (1 << 63) - 1),
        "double": st.floats(allow_nan=False),
        "string": st.text(),
        "bytes": st.binary(),
    }
    return plain[kind]


VALUES = {(written.name, written.fingerprint): values(written.tree) for _, written in released()}


# Schema resolution, rule by rule


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


ENUM_AB = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
ENUM_A = {"type": "enum", "name": "E", "symbols": ["A"]}
FIXED_4 = {"type": "fixed", "name": "F", "size": 4}
CHAIN = record(field("next", ["null", "R"]))


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        (record(field("a", "int")), record(field("a", "int"), field("b", "string"))),
        (record(field("a", "int"), field("b", "int", default=0)), record(field("a", "int"))),
        (record(field("b", "int", aliases=["a"])), record(field("a", "int"))),
        (record(name="R2", aliases=["R"]), record()),
        (record(field("a", "int"), field("b", "int")), record(field("b", "int"), field("a", "int"))),
        ("long", "int"), ("float", "int"), ("double", "int"), ("float", "long"), ("double", "long"), ("double", "float"),
        ("bytes", "string"), ("string", "bytes"),
        (["null", "string"], "string"), (["null", "double"], "int"), ("string", ["string"]), (["null", "long"], ["int", "null"]),
        ({"type": "long", "logicalType": "timestamp-millis"}, "long"),
        ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}),
        ({"type": "map", "values": "long"}, {"type": "map", "values": "int"}),
        (ENUM_AB, ENUM_A), ({**ENUM_A, "default": "A"}, ENUM_AB), (FIXED_4, FIXED_4), (CHAIN, CHAIN),
    ],
)  # fmt: skip
def test_these_pairs_resolve(reader: Any, writer: Any) -> None:
    assert obstacles(reader, writer) == []


@pytest.mark.parametrize(
    ("reader", "writer", "problem"),
    [
        (record(field("a", "int")), record(), "record.a: the writer has no such field, and it has no default"),
        (record(field("a", "int")), record(field("a", "long")), "record.a: long cannot be read as int"),
        (record(field("a", "string")), record(field("a", ["null", "string"])), "record.a: null cannot be read as string"),
        (record(field("a", ["null", "int"])), record(field("a", "string")), "record.a: no branch of the reader's union reads string"),
        (record(name="R2"), record(), "record: R is not R2"),
        ({"type": "array", "items": "int"}, {"type": "array", "items": "string"}, "record[]: string cannot be read as int"),
        ({"type": "map", "values": "int"}, {"type": "map", "values": "null"}, "record{}: null cannot be read as int"),
        (ENUM_A, ENUM_AB, "record: symbol B is unknown"),
        (FIXED_4, {**FIXED_4, "size": 5}, "record: size 5 is not 4"),
        (record(field("a", ENUM_A)), record(field("a", "string")), "record.a: string cannot be read as enum"),
    ],
)
def test_these_pairs_do_not_and_say_why(reader: Any, writer: Any, problem: str) -> None:
    assert obstacles(reader, writer) == [problem]


# Changes that someone may try on our own schemas


def changed(view: Any, change: Any) -> Any:
    tree = copy.deepcopy(current(view).tree)
    change({one["name"]: one for one in tree["fields"]}, tree["fields"])
    return tree


@pytest.mark.parametrize("view", RECORD_TYPES, ids=lambda view: view.__name__)
def test_a_new_field_without_a_default_would_be_caught(view: Any) -> None:
    later = changed(view, lambda _, fields: fields.append(field("new", "string")))
    assert obstacles(later, current(view).tree) == ["record.new: the writer has no such field, and it has no default"]


@pytest.mark.parametrize("view", RECORD_TYPES, ids=lambda view: view.__name__)
def test_a_new_field_with_a_default_would_pass(view: Any) -> None:
    later = changed(view, lambda _, fields: fields.insert(0, field("new", ["null", "string"], default=None)))
    assert obstacles(later, current(view).tree) == []


def test_a_changed_type_inside_the_nested_record_would_be_caught() -> None:
    later = changed(ResultRow, lambda named, _: named["verification"]["type"][1]["fields"][0].update(type="int"))
    assert obstacles(later, current(ResultRow).tree) == ["record.verification: no branch of the reader's union reads record"]


def test_a_field_that_an_older_writer_had_not_takes_its_default() -> None:
    older = changed(RenderRequested, lambda named, fields: (fields.remove(named["deliver"]), fields.remove(named["dark"])))
    older["fields"].insert(0, field("gone", {"type": "array", "items": "long"}))
    older["fields"] = [one if one["name"] != "scale" else field("scale", ["int", "null"]) for one in older["fields"]]
    out = io.BytesIO()
    fastavro.schemaless_writer(
        out, fastavro.parse_schema(resolving.plain(older)),
        {"gone": [1, 2], "request_id": "r", "tenant": "t", "content": b"\xff", "scale": 8, "boost": False, "requested_at": NOW},
    )  # fmt: skip
    decoded = resolving.decoder(RenderRequested, current(RenderRequested).tree, older)(out.getvalue(), 0)
    assert decoded == RenderRequested(
        request_id="r", tenant="t", content=b"\xff", scale=8.0, boost=False, requested_at=NOW, deliver="inline", dark="#000000"
    )
    assert repr(decoded.scale) == "8.0"
