"""Module for module what segno makes, which runs in another process: here and there it is never asked for the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from processors.symbol.capacity import LEVELS, VERSIONS
from tests.support.symbol_contents import KINDS, LENGTHS

FEW = (1, 2, 7, 10, 11)
"""The smallest, the first with alignment patterns and version information, and those beside a change of layout."""

LARGE = (
    {"kind": "digits", "version": 27, "level": "h", "length": "random"},
    {"kind": "utf-8", "version": 40, "level": "l", "length": "one below"},
)


PARTS = (range(1, 15), range(15, 23), range(23, 29), range(29, 34), range(34, 38), range(38, 41))
"""Of about the same time each, so that none takes long enough to hold up the others."""


def compared(repository: Path, cases: list[dict[str, Any]]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.symbol_comparison"],
        cwd=repository, input="".join(json.dumps(case) + "\n" for case in cases), stdout=subprocess.PIPE, text=True, check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_some_symbols_of_each_kind_level_and_length_are_segnos(repository: Path) -> None:
    kinds = list(KINDS)
    cases = [
        {"kind": kinds[(at + step) % len(kinds)], "version": version, "level": level, "length": LENGTHS[(at + step) % 3]}
        for at, version in enumerate(FEW)
        for step, level in enumerate(LEVELS)
    ]
    result = compared(repository, [*cases, *LARGE])

    assert result["differences"] == []
    assert result["symbols"] == 2 * (5 * 4 + 2)


@pytest.mark.long
@pytest.mark.timeout(1800)  # segno takes a second for the largest on a slow machine
@pytest.mark.parametrize("versions", PARTS, ids=lambda part: f"{part[0]}-{part[-1]}")
@pytest.mark.parametrize("kind", KINDS)
def test_every_version_and_level_is_segnos_at_capacity_one_below_and_between(repository: Path, kind: str, versions: range) -> None:
    cases = [
        {"kind": kind, "version": version, "level": level, "length": length}
        for version in versions
        for level in LEVELS
        for length in LENGTHS
    ]
    result = compared(repository, cases)

    assert result["differences"] == []
    assert result["symbols"] == 2 * len(versions) * 4 * 3
    assert result["pairs"] == sorted([version, level] for version in versions for level in LEVELS)


def test_the_parts_are_all_versions() -> None:
    assert [version for part in PARTS for version in part] == list(VERSIONS)
