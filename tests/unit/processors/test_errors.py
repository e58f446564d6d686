from __future__ import annotations

from pathlib import Path

import pytest

from processors.errors import (
    TABLE,
    ErrorClass,
    RenderError,
    RenderRefused,
    RequestRefused,
    StreamRefused,
    error_of,
    markdown,
    shown,
)

# code: class, failed event, dead letter, negative cache, always a content hash
EXPECTED = {
    "content_empty": ("permanent", True, False, False, False),
    "invalid_content": ("permanent", True, False, False, False),
    "invalid_payload": ("permanent", True, False, False, False),
    "invalid_option": ("permanent", True, False, False, False),
    "invalid_request": ("permanent", False, False, False, False),
    "content_too_long": ("permanent", True, False, True, True),
    "unscannable": ("permanent", True, False, True, True),
    "format_unavailable": ("permanent", True, False, True, True),
    "size_too_small": ("permanent", True, False, True, True),
    "size_too_large": ("permanent", True, False, True, True),
    "output_too_large": ("permanent", True, True, True, True),
    "verification_failed": ("poison", True, True, True, True),
    "render_failed": ("poison", True, True, False, True),
    "renderer_crash": ("poison", True, True, False, True),
    "deadline_exceeded": ("permanent", True, False, False, True),
    "wrong_key": ("poison", True, True, False, True),
    "missing_key": ("poison", True, True, False, True),
    "wrong_partition": ("poison", True, True, False, False),
    "request_too_large": ("poison", True, True, False, False),
    "undecodable": ("poison", False, True, False, False),
    "unknown_member": ("permanent", True, False, False, False),
    "idempotency_conflict": ("permanent", True, False, False, False),
    "retry_lost": ("permanent", True, False, False, True),
    "store_unavailable": ("transient", True, True, True, True),
    "artifact_conflict": ("poison", True, True, False, True),
    "render_timeout": ("transient", True, True, True, True),
}


def test_the_table_has_exactly_the_published_codes() -> None:
    assert list(TABLE) == list(EXPECTED)


@pytest.mark.parametrize("code", EXPECTED)
def test_each_code_has_the_class_and_consequences_that_were_published(code: str) -> None:
    row = TABLE[code]

    assert (
        row.error_class,
        row.failed_event,
        row.dead_letter,
        row.negative_cache,
        row.has_canonical_form,
    ) == EXPECTED[code]


@pytest.mark.parametrize("code", EXPECTED)
def test_each_code_belongs_to_one_branch_and_says_what_to_do(code: str) -> None:
    branches = [branch for branch in (RequestRefused, RenderRefused, StreamRefused) if code in branch.codes]
    error = error_of(code)

    assert [type(error)] == branches
    assert error.error_class is ErrorClass(EXPECTED[code][0])
    assert error.row.what_to_do in error.message
    assert "\n" not in error.message
    assert str(error) == f"{code}: {error.message}"


def test_only_what_has_a_content_hash_can_be_cached() -> None:
    assert [row.code for row in TABLE.values() if row.negative_cache and not row.has_canonical_form] == []


def test_an_undeclared_code_cannot_be_raised() -> None:
    with pytest.raises(KeyError):
        RenderError("no_such_code")


def test_the_published_page_is_the_table(repository: Path) -> None:
    assert markdown() in (repository / "docs" / "errors.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "quoted"),
    [("bmp3", "'bmp3'"), ("ä\ud800", r"'\xe4\ud800'"), ("x" * 100, "'" + "x" * 36 + "...")],
)
def test_a_users_value_is_quoted_in_ascii_and_cut(value: str, quoted: str) -> None:
    assert shown(value) == quoted
