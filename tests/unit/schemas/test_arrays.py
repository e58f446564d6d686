"""An array of strings as any writer may write it: in blocks, counted or with their length."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import resolving
from schemas.codec import Codec
from schemas.definitions import current
from schemas.errors import UndecodableError
from schemas.events import RenderCompleted, ResultRow, Verification
from tests.unit.schemas.records import EXAMPLES, PATIENT

CODEC = Codec()
(COMPLETED,) = (record for record in EXAMPLES if isinstance(record, RenderCompleted))
ONE = replace(COMPLETED, verification=replace(COMPLETED.verification, warnings=("inverted",)))
IN_ONE_BLOCK = b"\x02\x10inverted\x00"


def with_array(array: bytes) -> bytes:
    value = CODEC.encode(ONE)
    assert value.count(IN_ONE_BLOCK) == 1
    return value.replace(IN_ONE_BLOCK, array)


@pytest.mark.parametrize(
    ("array", "warnings"),
    [
        (b"\x00", ()),
        (b"\x04\x10inverted\x02a\x00", ("inverted", "a")),
        (b"\x02\x10inverted\x02\x02a\x00", ("inverted", "a")),
        (b"\x01\x12\x10inverted\x00", ("inverted",)),
        (b"\x03\x16\x10inverted\x02a\x02\x02b\x00", ("inverted", "a", "b")),
        (b"\x04\x00\x02a\x00", ("", "a")),
    ],
)
def test_its_blocks_are_put_together(array: bytes, warnings: tuple[str, ...]) -> None:
    decoded = CODEC.decode(with_array(array), RenderCompleted)

    assert decoded == replace(ONE, verification=replace(ONE.verification, warnings=warnings))


@pytest.mark.parametrize(
    "array",
    [b"\x02\x10inverted", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10inverted\x00", b"\x02\x03", b"\x02\x02\xff\x00", b"\x01\x80\x80\x80\x01\x02a\x00"],
)
def test_one_that_is_none_is_refused(array: bytes) -> None:
    with pytest.raises(UndecodableError):
        CODEC.decode(with_array(array), RenderCompleted)


@PATIENT
@given(st.lists(st.text(), max_size=70).map(tuple))
def test_it_is_written_as_fastavro_writes_it(warnings: tuple[str, ...]) -> None:
    record = replace(COMPLETED, verification=replace(COMPLETED.verification, warnings=warnings))
    tree = resolving.plain(current(RenderCompleted).tree)
    value = CODEC.encode(record)
    read = fastavro.schemaless_reader(io.BytesIO(value[10:]), fastavro.parse_schema(tree), None)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(tree), read)

    assert isinstance(read, dict)
    assert read["verification"]["warnings"] == list(warnings)
    assert out.getvalue() == value[10:]


def test_what_another_schema_wrote_has_it_too_as_a_tuple() -> None:
    tree = current(RenderCompleted).tree

    assert resolving.decoder(RenderCompleted, tree, tree)(CODEC.encode(ONE), 10) == ONE


def test_facts_that_an_older_release_has_written_have_no_warnings() -> None:
    members: dict[str, Any] = {"decoder": "d/1", "contrast_ratio": 21.0, "quiet_zone_modules": 4.0, "module_px": 8.0, "inverted": False}

    assert Verification.from_members(members) == Verification(**members, warnings=())
    assert Verification.from_members({**members, "warnings": ["a", "b"]}).warnings == ("a", "b")


def test_a_row_keeps_the_warnings_of_its_event() -> None:
    (row,) = (record for record in EXAMPLES if isinstance(record, ResultRow))

    assert row.verification is not None
    assert CODEC.decode(CODEC.encode(row), ResultRow).verification == row.verification
    assert row.verification.warnings == ("inverted", "ambiguous_text")
