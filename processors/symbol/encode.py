"""From content to symbol (ISO/IEC 18004:2015, 7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from processors.symbol.bit_stream import data_codewords
from processors.symbol.capacity import boosted, smallest_version
from processors.symbol.lines import pack
from processors.symbol.modes import mode_of
from processors.symbol.penalties import MaskPenalty
from processors.symbol.plan import Plan, plan_of
from processors.symbol.symbol import Symbol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from processors.spec import RenderSpec


class _Choice(NamedTuple):
    """How a content is to be encoded (7.1, step 1)."""

    mode: str
    version: int
    level: str


def make_symbol(spec: RenderSpec) -> Symbol:
    """Encode a spec's content. Raises RenderRefused content_too_long naming the level's limit."""
    choice = _choose(spec)
    plan = plan_of(choice.version, choice.level)
    packed = _place(spec.content, choice, plan)
    totals = [sum(penalty) for penalty in plan.version.evaluation.points(packed)]
    mask = totals.index(min(totals))
    return Symbol(
        modules=plan.version.lines.unpack(packed[0] ^ plan.finish[mask]),
        version=choice.version,
        error_correction=choice.level,
        mask=mask,
    )


def mask_penalties(spec: RenderSpec) -> tuple[MaskPenalty, ...]:
    """Return the penalty of masks 0 to 7 for a spec's content. Raises as `make_symbol` does."""
    choice = _choose(spec)
    plan = plan_of(choice.version, choice.level)
    return tuple(map(MaskPenalty._make, plan.version.evaluation.points(_place(spec.content, choice, plan))))


def _choose(spec: RenderSpec) -> _Choice:
    mode, level, characters = mode_of(spec.content), spec.error_correction, len(spec.content)
    version = smallest_version(mode, level, characters)
    return _Choice(mode, version, boosted(mode, level, characters, version) if spec.boost else level)


def _place(content: bytes, choice: _Choice, plan: Plan) -> NDArray[np.uint8]:
    """Return the message in its modules, without function patterns or mask: rows and columns, 2 x bytes."""
    data = np.frombuffer(data_codewords(choice.mode, content, choice.version, plan.blocks.data), np.uint8)
    if plan.interleaved is not None:
        data = data.take(plan.interleaved)
    message = b"".join((data.tobytes(), _error_correction(data, plan), b"\0"))
    lines = plan.version.lines
    bits = np.zeros((2, lines.bits), np.uint8)
    bits[0] = np.unpackbits(np.frombuffer(message, np.uint8)).take(plan.version.sources)
    lines.inside(bits[1])[:] = lines.inside(bits[0]).T
    return pack(bits)


def _error_correction(data: NDArray[np.uint8], plan: Plan) -> bytes:
    """Return the error correction codewords, interleaved as the data is (7.5, 7.6)."""
    blocks, added = plan.blocks, plan.table.take(plan.rows + data, axis=0)
    whole = blocks.count * blocks.data_each
    codewords = np.bitwise_xor.reduce(added[:whole].reshape(blocks.data_each, -1), axis=0)
    codewords = codewords.reshape(blocks.count, -1)
    if blocks.longer:
        codewords[-blocks.longer :] ^= added[whole:]
    message: bytes = codewords.view(np.uint8)[:, : blocks.ec_each].T.tobytes()
    return message
