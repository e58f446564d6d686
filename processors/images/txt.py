"""Text of half blocks, two modules a character, one above the other; the same as segno's compact terminal output.

Drawn for white letters on a black ground, as most terminals are: white is ink, black is blank. On
white paper it is the negative of itself, unless the colours are asked for the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from processors.errors import RenderRefused
from processors.profile import PROFILES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from processors.images.layout import Layout
    from processors.spec import RenderSpec

_BLACK, _WHITE = "#000000", "#ffffff"
_BLOCKS: Final = np.array([" ", "▄", "▀", "█"])
"""By ink above (2) and below (1): U+2584, U+2580 and U+2588, one column wide in every terminal."""


def write_txt(modules: NDArray[np.uint8], margin: int, *, dark_is_ink: bool) -> bytes:
    """Return UTF-8 lines that end with LF, as wide as the symbol and its margin (modules, 1 is dark).

    An odd number of rows ends with half a line: what would be below it is blank.
    """
    dark = np.pad(modules, margin)
    ink = dark if dark_is_ink else 1 - dark
    if len(ink) % 2:
        ink = np.pad(ink, ((0, 1), (0, 0)))
    characters = _BLOCKS[2 * ink[::2] + ink[1::2]]
    return "".join("".join(line) + "\n" for line in characters.tolist()).encode()


def write_spec(modules: NDArray[np.uint8], spec: RenderSpec, _layout: Layout) -> bytes:
    """Return the text of a spec. Raises RenderRefused format_unavailable for other colours, a scale or a size."""
    if (spec.dark, spec.light) not in {(_BLACK, _WHITE), (_WHITE, _BLACK)}:
        raise RenderRefused(
            "format_unavailable",
            f"txt is black and white: leave dark and light out, or ask for dark {_WHITE} on light {_BLACK}, "
            f"not {spec.dark or 'transparent'} on {spec.light or 'transparent'}",
        )
    if spec.scale != PROFILES[spec.profile].default_scale:  # None where there is a size
        raise RenderRefused("format_unavailable", "txt has a character a module: leave scale and size out")
    return write_txt(modules, spec.margin, dark_is_ink=spec.dark == _WHITE)
