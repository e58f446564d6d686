"""How much of a symbol can be lost: exact figures, at the edge of what the decoder reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from segno import encoder

from processors.symbol import make_symbol
from processors.symbol.function_patterns import data_region
from processors.verify.damage import DamageMargin, Loss, _order, damage_margin
from processors.verify.read_back import BLACK_ON_WHITE, read_back
from tests.unit.processors.conftest import MakeSpec


@pytest.mark.parametrize("version", range(1, 41))
def test_the_data_region_is_what_segno_leaves_free_for_codewords(version: int) -> None:
    side = 17 + 4 * version
    segno: Any = encoder  # its inner functions have no types
    reserved = segno.make_matrix(side, side, reserve_regions=True, add_timing=True)
    segno.add_alignment_patterns(reserved, side, side)
    segno.add_finder_patterns(reserved, side, side)
    free = 2

    assert np.array_equal(data_region(version), np.array([list(row) for row in reserved]) == free)


@pytest.mark.parametrize(("version", "modules"), [(1, 208), (2, 359), (7, 1568), (40, 29648)])
def test_it_has_the_modules_of_table_1(version: int, modules: int) -> None:
    assert np.count_nonzero(data_region(version)) == modules


@pytest.mark.parametrize(
    ("level", "margin"),
    [
        ("l", DamageMargin(Loss(64, 0.0467), 8, Loss(26, 0.019))),
        ("m", DamageMargin(Loss(196, 0.1166), 14, Loss(65, 0.0387))),
        ("q", DamageMargin(Loss(441, 0.1837), 21, Loss(144, 0.06))),
        ("h", DamageMargin(Loss(729, 0.2244), 27, Loss(216, 0.0665))),
    ],
)
def test_a_higher_level_can_lose_more(spec_of: MakeSpec, level: str, margin: DamageMargin) -> None:
    spec = spec_of("a" * 100, error_correction=level, boost=False)

    assert damage_margin(make_symbol(spec), spec.content) == margin


@pytest.mark.parametrize("content", ["0123", "https://example.com/", "a" * 60])
def test_one_module_more_is_unreadable_and_every_smaller_loss_is_readable(spec_of: MakeSpec, content: str) -> None:
    spec = spec_of(content)
    symbol = make_symbol(spec)
    margin = damage_margin(symbol, spec.content)
    data = np.flatnonzero(data_region(symbol.version))
    places = data[_order(symbol.version, len(data))]

    def read_without(lost: int) -> bool:
        left = symbol.modules.copy()
        left.flat[places[:lost]] = 0
        return read_back(left, BLACK_ON_WHITE) == spec.content

    def read_without_square(side: int) -> bool:
        left = symbol.modules.copy()
        first = (symbol.side - side) // 2
        left[first : first + side, first : first + side] = 0
        return read_back(left, BLACK_ON_WHITE) == spec.content

    scattered = [read_without(lost) for lost in range(len(places) + 1)]
    squares = [read_without_square(side) for side in range(symbol.side + 1)]
    assert scattered == [lost <= margin.scattered.modules for lost in range(len(places) + 1)]
    assert squares == [side <= margin.square_side for side in range(symbol.side + 1)]


def test_the_order_of_scattered_loss_is_a_permutation_that_never_changes() -> None:
    order = _order(1, 208)

    assert sorted(order.tolist()) == list(range(208))
    assert order[:8].tolist() == [97, 16, 103, 82, 167, 111, 50, 6]


def test_the_symbol_is_left_as_it_was(spec_of: MakeSpec) -> None:
    spec = spec_of()
    symbol = make_symbol(spec)
    before = symbol.modules.copy()
    damage_margin(symbol, spec.content)

    assert np.array_equal(symbol.modules, before)
