from __future__ import annotations

import numpy as np
import pytest

from processors.symbol.capacity import VERSIONS, encoding_modules, side_of
from processors.symbol.function_patterns import function_patterns
from processors.symbol.information import format_information, version_information
from processors.symbol.masking import mask_patterns
from processors.symbol.placement import placement


def drawn(modules: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> list[str]:
    return ["".join(" #"[module] for module in row) for row in modules]


def test_function_patterns_are_drawn_as_the_standard_draws_them() -> None:
    modules, _ = function_patterns(2)

    assert drawn(modules) == [
        "#######           #######",
        "#     #           #     #",
        "# ### #           # ### #",
        "# ### #           # ### #",
        "# ### #           # ### #",
        "#     #           #     #",
        "####### # # # # # #######",
        "                         ",
        "      #                  ",
        "                         ",
        "      #                  ",
        "                         ",
        "      #                  ",
        "                         ",
        "      #                  ",
        "                         ",
        "      #         #####    ",
        "                #   #    ",
        "#######         # # #    ",
        "#     #         #   #    ",
        "# ### #         #####    ",
        "# ### #                  ",
        "# ### #                  ",
        "#     #                  ",
        "#######                  ",
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_as_many_modules_are_free_as_table_1_says(version: int) -> None:
    _, taken = function_patterns(version)

    assert int((~taken).sum()) == encoding_modules(version)


@pytest.mark.parametrize("version", [1, 2, 7, 14, 21, 40])
def test_each_bit_is_placed_once_and_the_rest_takes_none(version: int) -> None:
    _, taken = function_patterns(version)
    bits = encoding_modules(version) // 8 * 8
    numbers = placement(taken, bits)

    assert sorted(numbers[numbers < bits].tolist()) == list(range(bits))
    assert (numbers[taken] == bits).all()


def test_bits_run_in_columns_two_wide_from_the_lower_right_up_and_down() -> None:
    _, taken = function_patterns(1)
    numbers = placement(taken, 208)
    at = {int(number): (int(row), int(column)) for (row, column), number in np.ndenumerate(numbers)}

    assert [at[number] for number in (0, 1, 2, 3)] == [(20, 20), (20, 19), (19, 20), (19, 19)]
    assert [at[number] for number in (23, 24, 25)] == [(9, 19), (9, 18), (9, 17)]
    # Past the horizontal timing pattern, and left of the vertical one, which is in no pair.
    assert [at[number] for number in (123, 124, 125)] == [(7, 11), (5, 12), (5, 11)]
    assert [at[number] for number in (135, 136, 176, 184, 207)] == [(0, 11), (0, 10), (12, 8), (9, 5), (12, 0)]


def test_format_information_is_that_of_table_c1() -> None:
    assert format_information("m", 0b000) == 0b101010000010010
    assert format_information("m", 0b101) == 0b100000011001110
    assert format_information("l", 0b010) == 0b111110110101010
    assert format_information("h", 0b111) == 0b000100000111011


def test_version_information_is_that_of_table_d1() -> None:
    assert version_information(7) == 0b000111110010010100
    assert version_information(40) == 0b101000110001101001


@pytest.mark.parametrize("side", [21, 177])
def test_masks_are_the_conditions_of_table_10_at_every_module(side: int) -> None:
    masks = mask_patterns(side)

    assert masks.shape == (8, side, side)
    for i in (0, 1, 5, 11, 12, side - 1):
        for j in (0, 2, 6, 13, side - 2):
            assert masks[:, i, j].tolist() == [
                (i + j) % 2 == 0, i % 2 == 0, j % 3 == 0, (i + j) % 3 == 0, (i // 2 + j // 3) % 2 == 0,
                i * j % 2 + i * j % 3 == 0, (i * j % 2 + i * j % 3) % 2 == 0, ((i + j) % 2 + i * j % 3) % 2 == 0,
            ]
    assert side_of(40) == 177
