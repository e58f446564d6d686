"""Penalties of any modules, likely in a symbol or not, are those of segno and of a plain reading of the standard."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from processors.symbol.capacity import side_of
from processors.symbol.evaluation import evaluation_of
from processors.symbol.lines import Lines

Modules = NDArray[np.uint8]
BOTH_WAYS = [1, 2, 7, 8, 9, 11, 12, 27, 40]
"""Versions on either side of the change from numbers to arrays, and where lines begin in all ways within words."""


def points_of(matrices: list[Modules]) -> list[tuple[int, ...]]:
    """What each of eight matrices is given, by passing them as masks of a symbol of light modules."""
    lines = Lines.of(len(matrices[0]))
    masks = np.array([[lines.pack(matrix), lines.pack(matrix.T)] for matrix in matrices])
    return [tuple(points) for points in evaluation_of(lines, masks).points(np.zeros_like(masks[0]))]


def segnos(matrix: Modules) -> tuple[int, ...]:
    encoder: Any = importlib.import_module("segno.encoder")
    scores: tuple[int, ...] = encoder.mask_scores([bytearray(row.tobytes()) for row in matrix], len(matrix), len(matrix))
    return scores


def one_row(side: int, row: str) -> Modules:
    """A checkerboard, which has no runs, blocks or patterns, with one row in it."""
    matrix: Modules = (np.indices((side, side)).sum(axis=0) % 2).astype(np.uint8)
    matrix[10, : len(row)] = [module == "#" for module in row]
    return matrix


@pytest.mark.parametrize("version", BOTH_WAYS)
def test_random_modules_get_the_points_of_segno(version: int) -> None:
    random, side = np.random.default_rng(version), side_of(version)
    few = [(random.random((side, side)) < share).astype(np.uint8) for share in (0.1, 0.3, 0.5, 0.62, 0.9)]
    one = [np.zeros((side, side), np.uint8), np.ones((side, side), np.uint8), one_row(side, "#" * side)]

    assert points_of(few + one) == [segnos(matrix) for matrix in few + one]


@pytest.mark.parametrize("version", [2, 7, 8, 17])
def test_lines_full_of_finder_like_patterns_get_the_points_of_segno(version: int) -> None:
    random, side = np.random.default_rng(version), side_of(version)
    pieces = [[1, 0, 1, 1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0], [0], [0, 1, 1, 1, 0, 1], [0, 0, 0]]

    def line() -> list[int]:
        return [module for at in random.integers(0, len(pieces), side) for module in pieces[at]][:side]

    matrices = [np.array([line() for _ in range(side)], np.uint8) for _ in range(4)]
    matrices += [np.ascontiguousarray(matrix.T) for matrix in matrices]
    assert points_of(matrices) == [segnos(matrix) for matrix in matrices]
    assert min(points[2] for points in points_of(matrices)) >= 20 * side


@pytest.mark.parametrize("side", [21, 49])
def test_each_feature_has_the_points_of_table_11(side: int) -> None:
    dark = "#" * side
    matrices = {
        "nothing": one_row(side, ""),
        "five": one_row(side, " #####"), "seven at the end": one_row(side, dark[:-8] and ("# " * side)[: side - 7] + "#######"),
        "light before": one_row(side, "    # ### #"), "light after": one_row(side, "## # ### #    #"), "at the edge": one_row(side, "# ### ##"),
        "light on both sides": one_row(side, "    # ### #    #"), "pair that shares three": one_row(side, "    # ### ### #    #"),
    }
    points = dict(zip(matrices, points_of(list(matrices.values())), strict=True))
    bare = points["nothing"]

    assert bare == (0, 0, 0, 0)
    assert points["five"][0] == 3
    assert points["seven at the end"][0] == 5
    assert [points[name][2] for name in ("light before", "light after", "at the edge", "light on both sides", "pair that shares three")] == [40] * 5


def test_an_all_dark_symbol_has_every_run_and_block_and_the_whole_imbalance() -> None:
    dark = np.ones((21, 21), np.uint8)

    assert points_of([dark] * 8) == [(42 * 19, 400 * 3, 0, 100)] * 8
