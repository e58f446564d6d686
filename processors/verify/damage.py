"""How much of a symbol can be lost until the decoder does not read it any more.

Two kinds of loss, each the same for every symbol of a version, so that figures compare:

square     a square in the middle is gone, function patterns and all: a sticker, a logo, a stain
scattered  single data modules are gone, in a fixed pseudo-random order: wear, dust, a poor print

A lost module is light, as bare paper is; about half of the modules are so anyway. More loss never
makes a symbol readable again that it has made unreadable, so that the most that can be lost is found by bisection:
some 25 readings for version 40.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import shake_256
from typing import TYPE_CHECKING, Final

import numpy as np

from processors.symbol.function_patterns import data_region
from processors.verify.read_back import BLACK_ON_WHITE, read_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from processors.symbol import Symbol

_SEED: Final = b"qr-damage/1"
_DRAW_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Loss:
    """The most that can be lost. modules: how many. share: of all modules of the symbol, 0 to 1, 4 decimals."""

    modules: int
    share: float


@dataclass(frozen=True, slots=True)
class DamageMargin:
    """What a symbol can lose and still be read. square_side: of the square, in modules."""

    square: Loss
    square_side: int
    scattered: Loss


def damage_margin(symbol: Symbol, content: bytes) -> DamageMargin:
    """Return what `symbol` can lose until it does not say `content` any more; the same in every process."""
    positions = np.flatnonzero(data_region(symbol.version))
    positions = positions[_order(symbol.version, len(positions))]

    def without_square(side: int) -> NDArray[np.uint8]:
        first = (symbol.side - side) // 2
        left = symbol.modules.copy()
        left[first : first + side, first : first + side] = 0
        return left

    def without_scattered(count: int) -> NDArray[np.uint8]:
        left = symbol.modules.copy()
        left.flat[positions[:count]] = 0
        return left

    def readable(modules: NDArray[np.uint8]) -> bool:
        return read_back(modules, BLACK_ON_WHITE) == content

    side = _most(lambda size: readable(without_square(size)), symbol.side)
    count = _most(lambda size: readable(without_scattered(size)), len(positions))
    return DamageMargin(
        square=_loss(side * side, symbol), square_side=side, scattered=_loss(count, symbol)
    )


def _loss(modules: int, symbol: Symbol) -> Loss:
    return Loss(modules, round(modules / symbol.modules.size, 4))


def _most(readable: Callable[[int], bool], everything: int) -> int:
    """Return the largest loss that can be read. Nothing lost can be; everything lost cannot."""
    readable_at, unreadable_at = 0, everything
    while unreadable_at - readable_at > 1:
        middle = (readable_at + unreadable_at) // 2
        if readable(middle):
            readable_at = middle
        else:
            unreadable_at = middle
    return readable_at


def _order(version: int, count: int) -> NDArray[np.intp]:
    """Return a permutation of `count` places: by a hash, since a library's generator may change its streams."""
    draws = shake_256(_SEED + bytes([version])).digest(count * _DRAW_BYTES)
    return np.argsort(np.frombuffer(draws, dtype=">u8"), kind="stable")
