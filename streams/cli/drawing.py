"""A symbol in the terminal: half blocks, two modules a character, one above the other."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

# The symbol's own colours are set, not the terminal's taken: on a dark terminal its foreground is
# light, and a symbol drawn with it would be the negative of itself.
_BLACK_ON_WHITE = "\x1b[38;2;0;0;0;48;2;255;255;255m"
_RESET = "\x1b[0m"
# (upper dark, lower dark) → character whose ink is the dark module
_INK = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}
_QUIET_ZONE = 4
"""ISO/IEC 18004:2015, 5.3.8: four modules on every side."""


def drawn(modules: Sequence[Sequence[int]], *, coloured: bool, quiet_zone: int = _QUIET_ZONE) -> list[str]:
    """Lines of text; `modules` is square, true is dark.

    Without colours the light modules are drawn and the dark ones left blank, as text is light on
    most terminals; readers take both.
    """
    side = len(modules) + 2 * quiet_zone
    grid = [[False] * side for _ in range(side + side % 2)]
    for y, row in enumerate(modules):
        for x, dark in enumerate(row):
            grid[y + quiet_zone][x + quiet_zone] = bool(dark)
    lines = []
    for upper, lower in zip(grid[::2], grid[1::2], strict=True):
        if coloured:
            lines.append(_BLACK_ON_WHITE + "".join(_INK[pair] for pair in zip(upper, lower, strict=True)) + _RESET)
        else:
            lines.append("".join(_INK[not top, not bottom] for top, bottom in zip(upper, lower, strict=True)))
    return lines


def print_symbol(modules: Sequence[Sequence[int]]) -> None:
    """Draw on stdout, or say why not: a terminal too narrow, or an encoding without blocks."""
    terminal = sys.stdout.isatty()
    lines = drawn(modules, coloured=terminal)
    width = len(modules) + 2 * _QUIET_ZONE
    columns = shutil.get_terminal_size().columns
    if terminal and width > columns:
        print(f"(the symbol is {width} columns wide, this terminal has {columns}: look at the file instead)")
        return
    try:
        "▀▄█".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        print("(this terminal's encoding has no block characters: look at the file instead)")
        return
    print("\n".join(lines))
