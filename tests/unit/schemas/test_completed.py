"""The sections of a completed event, one after the other, are the record: byte for byte what the codec writes."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given

from schemas.codec import Codec
from schemas.compiled import section_encoder
from schemas.completed import completed_sections, row_sections
from schemas.definitions import current
from schemas.events import RenderCompleted, ResultRow
from tests.unit.schemas.records import PATIENT, instances

CODEC = Codec()
OF_THE_ROW = {field.name for field in fields(RenderCompleted)} & {field.name for field in fields(ResultRow)} - {"attempts", "generation"}


def row_of(event: RenderCompleted) -> ResultRow:
    """A ready row that says what the event says of its content."""
    said = {name: getattr(event, name) for name in OF_THE_ROW}
    return ResultRow(status="ready", attempts=1, created_at=1, updated_at=2, fresh_until=3, stale_until=4, **said)


@PATIENT
@given(instances(RenderCompleted))
def test_they_are_the_bytes_of_the_whole_record(event: RenderCompleted) -> None:
    own = {field.name: getattr(event, field.name) for field in fields(event) if field.name not in OF_THE_ROW}
    value = CODEC.framed(RenderCompleted, *completed_sections(row_sections(row_of(event)), **own))
    assert value == CODEC.encode(event)


def test_every_field_of_the_event_is_the_requests_own_or_the_rows() -> None:
    own = set(completed_sections.__annotations__) - {"row", "return"}
    assert own | OF_THE_ROW == {field.name for field in fields(RenderCompleted)}
    assert not own & OF_THE_ROW


@pytest.mark.parametrize("attempts", [1 << 31, -(1 << 31) - 1])
def test_a_number_that_its_field_cannot_hold_is_refused(attempts: int) -> None:
    when = section_encoder(current(RenderCompleted).tree, "attempts", "completed_at")
    with pytest.raises(OverflowError):
        when(attempts, 1, 2)
