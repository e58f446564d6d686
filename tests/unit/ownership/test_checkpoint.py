"""A local copy is continued only while nothing can be missing from it."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.ownership.checkpoint import ChangelogLog, Checkpoint, reason_to_restore_in_full

DAY_MS = 86_400_000
BASE64_URL = string.ascii_letters + string.digits + "-_"
NOW = 1_800_000_000_000
LOG = ChangelogLog(topic_id="uuid-1", start=100, end=200)


def checkpoint(offset: int = 150, topic_id: str = "uuid-1", age_ms: int = 0) -> Checkpoint:
    return Checkpoint(topic_id, offset, NOW - age_ms)


@given(st.text(BASE64_URL, min_size=1, max_size=22), st.integers(-1, 2**63), st.integers(0, 2**53))
def test_a_checkpoint_reads_back_as_written(topic_id: str, offset: int, written_ms: int) -> None:
    value = Checkpoint(topic_id, offset, written_ms)
    assert Checkpoint.decode(value.encode()) == value


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (None, "no checkpoint"),
        (checkpoint(topic_id="uuid-2"), "another changelog topic"),
        (checkpoint(offset=200), "past the changelog's end"),
        (checkpoint(offset=199), None),
        (checkpoint(offset=98), "before the changelog's start"),
        (checkpoint(offset=99), None),
        (checkpoint(age_ms=DAY_MS // 2 + 1), "too old"),
        (checkpoint(age_ms=DAY_MS // 2), None),
        (checkpoint(), None),
    ],
)
def test_a_local_copy_is_continued_only_while_it_can_be_believed(found: Checkpoint | None, reason: str | None) -> None:
    assert reason_to_restore_in_full(found, LOG, NOW, DAY_MS) == reason
