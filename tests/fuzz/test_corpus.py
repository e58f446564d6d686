"""The kept inputs of the fuzzer, replayed without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
INPUTS = sorted(CORPUS.glob("*/*"))


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_of_the_fuzzer_finds_nothing(target: str) -> None:
    for file in (CORPUS / target).iterdir():
        TARGETS[target](file.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_short_inputs_and_cut_ones_find_nothing_either(target: str) -> None:
    TARGETS[target](b"")
    for first in range(256):
        TARGETS[target](bytes([first]))
    for file in (CORPUS / target).iterdir():
        given = file.read_bytes()
        for end in range(0, len(given), 1 + len(given) // 8):
            TARGETS[target](given[:end])


def test_the_corpus_is_small_and_every_file_belongs_to_a_target() -> None:
    assert {file.parent.name for file in INPUTS} == set(TARGETS)
    assert sum(file.stat().st_size for file in INPUTS) < 256 * 1024
    assert len(INPUTS) < 600
