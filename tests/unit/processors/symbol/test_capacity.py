from __future__ import annotations

import pytest

from processors.symbol.capacity import (
    CHARACTERS,
    LEVELS,
    VERSIONS,
    Blocks,
    alignment_centres,
    blocks_of,
    boosted,
    encoding_modules,
    smallest_version,
)


@pytest.mark.parametrize(
    ("version", "centres"),
    [
        (1, ()), (2, (6, 18)), (7, (6, 22, 38)), (15, (6, 26, 48, 70)), (22, (6, 26, 50, 74, 98)), (28, (6, 26, 50, 74, 98, 122)),
        (32, (6, 34, 60, 86, 112, 138)), (36, (6, 24, 50, 76, 102, 128, 154)), (39, (6, 26, 54, 82, 110, 138, 166)), (40, (6, 30, 58, 86, 114, 142, 170)),
    ],
)
def test_alignment_patterns_lie_where_table_e1_has_them(version: int, centres: tuple[int, ...]) -> None:
    assert alignment_centres(version) == centres


@pytest.mark.parametrize(("version", "modules"), [(1, 208), (2, 359), (6, 1383), (7, 1568), (14, 4651), (21, 9252), (28, 15371), (35, 23008), (40, 29648)])
def test_a_version_has_the_modules_of_table_1(version: int, modules: int) -> None:
    assert encoding_modules(version) == modules


@pytest.mark.parametrize(
    ("version", "level", "blocks"),
    [
        (1, "l", Blocks(1, 0, 19, 7)), (5, "q", Blocks(4, 2, 15, 18)), (10, "m", Blocks(5, 1, 43, 26)), (22, "h", Blocks(34, 0, 13, 24)),
        (32, "m", Blocks(33, 23, 46, 28)), (40, "l", Blocks(25, 6, 118, 30)), (40, "h", Blocks(81, 61, 15, 30)),
    ],
)
def test_blocks_are_those_of_table_9(version: int, level: str, blocks: Blocks) -> None:
    assert blocks_of(version, level) == blocks


def test_every_version_and_level_is_filled_by_its_blocks() -> None:
    for version in VERSIONS:
        for level in LEVELS:
            blocks = blocks_of(version, level)
            assert blocks.total == encoding_modules(version) // 8
            assert 0 <= blocks.longer < blocks.count


@pytest.mark.parametrize(
    ("mode", "level", "some"),
    [
        ("numeric", "l", {1: 41, 2: 77, 9: 552, 10: 652, 26: 3283, 27: 3517}),
        ("alphanumeric", "q", {1: 16, 2: 29, 9: 189, 10: 221, 26: 1094, 27: 1172}),
        ("byte", "h", {1: 7, 2: 14, 9: 98, 10: 119, 26: 593, 27: 625}),
        ("byte", "m", {3: 42, 10: 213, 40: 2331}),
    ],
)
def test_versions_hold_the_characters_of_table_7(mode: str, level: str, some: dict[int, int]) -> None:
    assert {version: CHARACTERS[mode][level][version - 1] for version in some} == some


def test_the_first_version_that_holds_a_content_is_taken() -> None:
    assert [smallest_version("byte", "m", length) for length in (1, 14, 15, 26, 27, 2331)] == [1, 1, 2, 2, 3, 40]


@pytest.mark.parametrize(("length", "level"), [(1, "h"), (7, "h"), (8, "q"), (11, "q"), (12, "m"), (14, "m"), (15, "l"), (17, "l")])
def test_a_level_is_raised_as_far_as_the_version_allows(length: int, level: str) -> None:
    assert boosted("byte", "l", length, 1) == level
