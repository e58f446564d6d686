"""What all symbols of a version share, and of a version at a level: made once, then only read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from processors.symbol.capacity import Blocks, blocks_of, encoding_modules, side_of
from processors.symbol.error_correction import VALUES, contributions
from processors.symbol.evaluation import Evaluation, evaluation_of
from processors.symbol.function_patterns import function_patterns
from processors.symbol.information import draw_information
from processors.symbol.lines import Lines
from processors.symbol.masking import MASKS, mask_patterns
from processors.symbol.placement import placement
from processors.symbol.read_only import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class VersionPlan:
    """What the geometry of a version fixes.

    sources: for each bit of the rows the number of its message bit; the bit after the
    message is zero. masks: 8 x bytes, for the rows, each mask with the function patterns,
    to be combined by exclusive or.
    """

    lines: Lines
    sources: NDArray[np.intp]
    masks: NDArray[np.uint8]
    evaluation: Evaluation


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a version and a level fix.

    interleaved: for each data codeword of the message, its place in the stream, or
    None where there is one block. rows: for each, its first row in `table`, the
    contributions to error correction codewords. finish: 8 x bytes, each mask with
    function patterns, format and version information, for the rows.
    """

    version: VersionPlan
    blocks: Blocks
    interleaved: NDArray[np.intp] | None
    rows: NDArray[np.intp]
    table: NDArray[np.uint64]
    finish: NDArray[np.uint8]


@cache
def version_plan(version: int) -> VersionPlan:
    """Return the plan of a version, 1 to 40; made by the first symbol that asks."""
    lines = Lines.of(side_of(version))
    modules, taken = function_patterns(version)
    message_bits = encoding_modules(version) // 8 * 8
    masked = (mask_patterns(lines.side) & ~taken).astype(np.uint8) ^ modules
    masks = np.array([[lines.pack(mask), lines.pack(mask.T)] for mask in masked])
    return VersionPlan(
        lines=lines,
        sources=read_only(lines.spread(placement(taken, message_bits), message_bits)),
        masks=read_only(np.ascontiguousarray(masks[:, 0])),
        evaluation=evaluation_of(lines, masks),
    )


@cache
def plan_of(version: int, level: str) -> Plan:
    """Return the plan of a version, 1 to 40, at a level; made by the first symbol that asks."""
    common, blocks = version_plan(version), blocks_of(version, level)
    order, remaining = _interleaving(blocks)
    return Plan(
        version=common,
        blocks=blocks,
        interleaved=None if blocks.count == 1 else read_only(order),
        rows=read_only(remaining * VALUES),
        table=contributions(blocks.ec_each),
        finish=read_only(_finish(version, level)),
    )


def _interleaving(blocks: Blocks) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, in the order of the message, each data codeword's place and how many follow in its block (7.6)."""
    lengths = np.full(blocks.count, blocks.data_each, np.intp)
    lengths[blocks.count - blocks.longer :] += 1
    starts = np.cumsum(lengths) - lengths
    at = np.arange(blocks.data_each + 1, dtype=np.intp)[:, None]
    there = at < lengths
    return (starts + at)[there], (lengths - 1 - at)[there]


def _finish(version: int, level: str) -> NDArray[np.uint8]:
    """Combine each mask, in rows, with what it and the level add to it."""
    common = version_plan(version)
    lines, finished = common.lines, []
    for mask in range(MASKS):
        added = np.zeros((lines.side, lines.side), np.uint8)
        draw_information(added, version, level, mask)
        finished.append(common.masks[mask] ^ lines.pack(added))
    return np.array(finished)


def forget_plans() -> None:
    """Drop every plan and table, as in a process that has made no symbol."""
    for made in (plan_of, version_plan, contributions):
        made.cache_clear()
