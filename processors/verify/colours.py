"""The two colours of a symbol, as eyes, cameras and the decoder see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from processors.errors import RenderRefused

if TYPE_CHECKING:
    from processors.spec import RenderSpec

_LINEAR_UP_TO: Final = 0.04045  # IEC 61966-2-1 (sRGB); WCAG's 0.03928 gives the same 8-bit results
_WHITE, _BLACK = "#ffffff", "#000000"


@dataclass(frozen=True, slots=True)
class ColourPair:
    """What the colours of a request come to.

    dark, light: `#rrggbb`, with what transparency counts as. contrast_ratio: 1 to 21.
    inverted: the dark modules are the brighter ones. brightness: 0 to 255 of the dark and
    the light modules as the decoder is shown them; it takes dark on light only, so an inverted
    symbol is shown negated, which keeps the distance of the two.
    """

    dark: str
    light: str
    contrast_ratio: float
    inverted: bool
    brightness: tuple[int, int]


# Bounded, since colours come from requests; a worker's tenants have a few pairs each. Without
# it a symbol pays for two powers and four conversions, a tenth of its reading back.
@lru_cache(maxsize=256)
def colour_pair(dark: str | None, light: str | None) -> ColourPair:
    """Return the facts of two colours `#rrggbb`, None for transparent.

    A transparent light counts as white (paper), a transparent dark as black (a dark
    ground); what really lies behind them is the user's.
    """
    dark, light = dark or _BLACK, light or _WHITE
    dark_luma, light_luma = _luma(dark), _luma(light)
    inverted = dark_luma > light_luma
    return ColourPair(
        dark=dark,
        light=light,
        contrast_ratio=contrast_ratio(dark, light),
        inverted=inverted,
        brightness=(light_luma, dark_luma) if inverted else (dark_luma, light_luma),
    )


def check_colours(spec: RenderSpec) -> None:
    """Refuse colours that no reader tells apart. Raises RenderRefused unscannable."""
    if spec.dark is None and spec.light is None:
        raise RenderRefused("unscannable", "dark and light are both transparent; give one a colour")
    colours = colour_pair(spec.dark, spec.light)
    if colours.dark == colours.light:
        raise RenderRefused(
            "unscannable",
            f"dark and light are the same colour, {colours.light} "
            "(a transparent light counts as white, a transparent dark as black)",
        )


def contrast_ratio(one: str, other: str) -> float:
    """Return the contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, contrast ratio)."""
    low, high = sorted((_relative_luminance(one), _relative_luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luma(colour: str) -> int:
    """Brightness 0 to 255 as zxing-cpp and cameras weigh it (ITU-R BT.601)."""
    red, green, blue = bytes.fromhex(colour[1:])
    return (306 * red + 601 * green + 117 * blue + 0x200) >> 10


def _relative_luminance(colour: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in bytes.fromhex(colour[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= _LINEAR_UP_TO else ((channel + 0.055) / 1.055) ** 2.4
