from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.artifact_keys import artifact_path, tenant_folder

HASH = "ab" + "0" * 62
HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)
# Surrogates too: a tenant comes out of Avro, but a key must not depend on who checked it.
TENANTS = st.none() | st.text(st.characters(), max_size=300) | st.text(".~/\\%Aa", max_size=12)
UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._~")


def test_a_key_begins_with_the_profile_and_ends_with_hash_and_format() -> None:
    assert artifact_path("qr-1", HASH, "png", None) == f"qr-1/ab/{HASH}.png"


def test_a_tenant_has_a_folder_below_the_profile() -> None:
    assert artifact_path("qr-1", HASH, "svg", "acme") == f"qr-1/t/acme/ab/{HASH}.svg"


@pytest.mark.parametrize(
    ("tenant", "folder"),
    [
        ("acme.example", "acme.example"),
        ("", "~"),
        ("~", "~7e"),
        (".", "~2e"),
        ("..", "~2e."),
        ("../../etc", "~2e.~2f..~2fetc"),
        ("a/b", "a~2fb"),
        ("a\\b", "a~5cb"),
        ("Acme", "~41cme"),
        ("äö", "~c3~a4~c3~b6"),
        ("100%", "100~25"),
        ("x" * 128, "x" * 128),
        ("x" * 129, "~~0ec9eb33e74510bcdd1f2ea55206e82f21649c5c2becbf2b433eb475b34c01bd"),
    ],
)
def test_a_tenants_folder_is_spelt_so_for_ever(tenant: str, folder: str) -> None:
    assert tenant_folder(tenant) == folder


@given(TENANTS, TENANTS, HASHES, HASHES, st.sampled_from(["qr-1", "t", "qr-1"]), st.sampled_from(["png", "svg"]))
def test_different_artifacts_have_different_keys(one: str | None, other: str | None, first: str, second: str, profile: str, file_format: str) -> None:
    left, right = ("qr-1", first, "png", one), (profile, second, file_format, other)
    assert (artifact_path(*left) == artifact_path(*right)) == (left == right)


@given(TENANTS, HASHES)
def test_a_key_stays_below_its_profile_and_reads_the_same_in_a_uri(tenant: str | None, content_hash: str) -> None:
    parts = artifact_path("qr-1", content_hash, "png", tenant).split("/")
    assert parts[0] == "qr-1"
    assert len(parts) == (3 if tenant is None else 5)
    for part in parts:
        assert part
        assert not part.startswith(".")
        assert len(part) <= 128
        assert UNRESERVED.issuperset(part)


@pytest.mark.parametrize(
    ("profile", "content_hash", "file_format"),
    [("..", HASH, "png"), ("qr/0", HASH, "png"), ("", HASH, "png"), ("qr-1", HASH[:-1], "png"), ("qr-1", HASH.upper(), "png"), ("qr-1", HASH, "../png"), ("qr-1", "\u0660" * 64, "png")],
)
def test_what_is_no_name_of_ours_is_refused(profile: str, content_hash: str, file_format: str) -> None:
    with pytest.raises(ValueError, match=r"no name|64 lower-case"):
        artifact_path(profile, content_hash, file_format, None)
