"""Points that a mask is given (ISO/IEC 18004:2015, 7.8.3.1, table 11), on bits of lines.

Scored is what segno 1.6.6 scores: format and version information and the dark module are
light, the symbol's outside is light, a finder-like pattern with light on both sides counts
once, and the search goes on seven modules after one that counted.

The findings are bits, got by the same steps from numbers of any length and from arrays of
words; `right(x, k)` gives bit i what is at i + k, `left(x, k)` what is at i - k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

Words = np.ndarray[tuple[Any, ...], np.dtype[np.uint64]]
Bits = TypeVar("Bits", int, Words)
Shift = Callable[[Bits, int], Bits]

Points = tuple[int, int, int, int]
"""N1, N2, N3 and N4."""


class MaskPenalty(NamedTuple):
    """Points of one mask by feature: N1 runs, N2 blocks, N3 finder-like patterns, N4 balance."""

    runs: int
    blocks: int
    finder_like: int
    balance: int

    @property
    def total(self) -> int:
        """What masks are compared by; the first of the least is taken."""
        return sum(self)


def balance_points(modules: int) -> bytes:
    """Return N4 by the number of dark modules, 0 to `modules`: 10 for each 5 % away from half.

    In floats and in this order, as segno does: a share on a bound may fall to either side.
    """
    share = np.arange(modules + 1) / float(modules) * 100
    return (10 * (np.abs(share - 50) / 5).astype(np.uint8)).tobytes()


def runs_of_five(differs: Bits, ones: Bits, right: Shift[Bits]) -> tuple[Bits, Bits]:
    """Return the modules that begin five of one colour, and those of them that are a run's last.

    differs: 1 where the next module of the line differs, or there is none. A run of
    L >= 5 has L - 4 of the first, so that N1, L - 2, is one for each and two for the last.
    """
    broken = differs | right(differs, 1)
    broken = broken | right(broken, 2)
    five = broken ^ ones
    return five, five & right(broken, 1)


def finder_like(
    modules: Bits, following: Bits, differs: Bits, right: Shift[Bits], left: Shift[Bits]
) -> Bits:
    """Return where 1011101 with four light modules before or after it begins, once for each that counts.

    following: modules, one to the right. differs: where the two do.
    """
    dark_light_dark = right(modules, 2) & modules & differs
    like = right(dark_light_dark, 4) & dark_light_dark & right(modules, 3)
    dark_in_two = modules | following
    dark_in_four = dark_in_two | right(dark_in_two, 2)
    like = like & ~(right(dark_in_four, 7) & left(dark_in_four, 4))
    # Two of them may share three modules or one, and never three do: of the two, the first has
    # light before it and the second after it. Such a pair counts once.
    return like & ~(right(like, 4) | right(like, 6))
