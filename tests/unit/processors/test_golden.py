"""The golden vectors: never edited, made by segno, and what keeps a worker with other bytes away."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from processors import golden
from processors.errors import RenderRefused
from processors.golden import OtherBytes, check, make, modules_hash, read
from processors.images import png
from processors.profile import DEFAULT_PROFILE, PROFILES
from tests.golden.make_vectors import by_segno

RELEASED = {"qr-1": "57c39c27f25a98e65091dc214a799803409b3b9be23d87b504a49bb8e4e42c87"}
"""Pinned a second time: who edits a released file has to edit this, too."""


@pytest.fixture(scope="module")
def vectors(repository: Path) -> bytes:
    return (repository / "processors" / "vectors" / "qr-1.jsonl").read_bytes()


def test_the_current_profile_is_frozen_and_its_file_is_pinned() -> None:
    assert golden.PINNED == RELEASED
    assert DEFAULT_PROFILE.name in golden.PINNED
    assert golden.PINNED.keys() <= PROFILES.keys()


def test_this_installation_makes_every_vector(vectors: bytes) -> None:
    assert check("qr-1", vectors) == 322


def test_the_vectors_have_every_version_level_mask_and_format(vectors: bytes) -> None:
    specs, made = zip(*read(vectors), strict=True)
    assert {one.symbol["version"] for one in made} == set(range(1, 41))
    assert {one.symbol["error_correction"] for one in made} == set("lmqh")
    assert Counter(one.symbol["mask"] for one in made).keys() == set(range(8))
    assert {spec.format for spec in specs} == {"png", "svg", "pdf", "eps", "txt"}
    assert {spec.profile for spec in specs} == {"qr-1"}


def test_the_small_symbols_of_the_vectors_are_segnos(vectors: bytes) -> None:
    compared = 0
    for spec, made in read(vectors):
        if made.symbol["version"] <= 3:
            assert by_segno(spec) == made.symbol
            compared += 1
    assert compared > 100


@pytest.mark.long
def test_all_symbols_of_the_vectors_are_segnos(vectors: bytes) -> None:
    for spec, made in read(vectors):
        assert by_segno(spec) == made.symbol


def test_the_hash_of_modules_is_that_of_their_digits() -> None:
    modules = np.array([[1, 0], [0, 1]], np.uint8)
    # printf '10\n01\n' | sha256sum
    assert modules_hash(modules) == "657a597e92bb5f72c90fce0a436da3fbb0795c785bc3fc5a5c5cecd997b0a570"


def test_an_edited_file_is_refused_before_anything_is_made(vectors: bytes) -> None:
    edited = vectors.replace(b'"mask": 3', b'"mask": 4', 1)
    with pytest.raises(OtherBytes, match=r"^the golden vectors of profile qr-1 were edited \(SHA-256 [0-9a-f]{64}, not [0-9a-f]{64}\)$"):
        check("qr-1", edited)


def test_a_symbol_with_another_mask_and_a_file_with_another_byte_are_named(vectors: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(golden, "make", lambda spec: make(spec)._replace(symbol={}))
        with pytest.raises(OtherBytes, match=r"^golden vector 1 of profile qr-1 \(png, version 1\) has another symbol$"):
            check("qr-1", vectors)
    with monkeypatch.context() as patch:
        patch.setattr(png, "crc32", lambda _: 0)
        with pytest.raises(OtherBytes, match=r"^golden vector 1 of profile qr-1 \(png, version 1\) has another file$"):
            check("qr-1", vectors)


def test_a_vector_that_this_installation_refuses_is_named(vectors: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "make", Mock(side_effect=RenderRefused("content_too_long")))
    with pytest.raises(OtherBytes, match=r"^golden vector 1 of profile qr-1 \(png, version 1\) is refused as content_too_long$"):
        check("qr-1", vectors)


def test_a_vector_may_have_what_ends_a_line_in_other_texts_than_json() -> None:
    content = "a\u2028b\x85c"
    line = json.dumps({"content": content, "symbol": {}, "file": ""}, ensure_ascii=False)
    assert [spec.content.decode() for spec, _ in read(f"{line}\n{line}\n".encode())] == [content, content]


def test_the_vectors_are_made_without_segno_and_with_another_zlib(repository: Path) -> None:
    """zlib-ng in the place of the interpreter's zlib, as newer Pythons and some distributions have it."""
    program = """
import sys
sys.modules["segno"] = None
import zlib_ng.zlib_ng
sys.modules["zlib"] = zlib_ng.zlib_ng
from streams.rendering.golden_vectors import check_all
print(check_all(), sys.modules["zlib"].__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "322 zlib_ng.zlib_ng\n", done.stderr
