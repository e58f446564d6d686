"""Read a finished symbol back, in the luminance of its own colours, before it is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import zxingcpp

from processors.errors import RenderRefused
from schemas.events import Verification

if TYPE_CHECKING:
    from processors.images.layout import Layout
    from processors.spec import RenderSpec
    from processors.symbol import Symbol

_QR_CODE: Final = zxingcpp.BarcodeFormats((zxingcpp.BarcodeFormat.QRCode,))
DECODER: Final = "zxing-cpp/3.1.1"
_LINEAR_UP_TO: Final = 0.04045  # IEC 61966-2-1 (sRGB); WCAG's 0.03928 gives the same 8-bit results
_WHITE, _BLACK = "#ffffff", "#000000"


def check_colours(spec: RenderSpec) -> None:
    """Refuse colours that no reader tells apart. Raises RenderRefused unscannable.

    A transparent light counts as white (paper), a transparent dark as black (a dark
    ground); what really lies behind them is the user's.
    """
    if spec.dark is None and spec.light is None:
        raise RenderRefused("unscannable", "dark and light are both transparent; give one a colour")
    if _ground(spec) == (spec.light or _WHITE):
        raise RenderRefused(
            "unscannable",
            f"dark and light are the same colour, {spec.light or _WHITE} "
            "(a transparent light counts as white, a transparent dark as black)",
        )


def verify(spec: RenderSpec, symbol: Symbol, layout: Layout) -> Verification:
    """Decode the symbol and compare it to the content, byte for byte.

    Raises RenderRefused: unscannable when its colours are too close for the decoder,
    verification_failed when it reads something else.
    """
    dark, light = _ground(spec), spec.light or _WHITE
    dark_luma, light_luma = _luma(dark), _luma(light)
    inverted = dark_luma > light_luma
    # The decoder's pure mode reads dark on light only; an inverted symbol is shown to it negated,
    # which keeps the distance of the two.
    low, high = (light_luma, dark_luma) if inverted else (dark_luma, light_luma)
    read = _read(symbol, low, high)
    if read is None and _read(symbol, 0, 255) is not None:
        raise RenderRefused(
            "unscannable",
            f"dark {dark} and light {light} are too close in brightness to be read "
            f"(contrast ratio {contrast_ratio(dark, light):.2f} to 1); choose colours further apart",
        )
    if read != spec.content:
        found = "nothing" if read is None else f"{len(read):,} other bytes"
        raise RenderRefused("verification_failed", f"the symbol reads back to {found}")
    return Verification(
        decoder=DECODER,
        contrast_ratio=round(contrast_ratio(dark, light), 4),
        quiet_zone_modules=round(layout.quiet_zone_modules, 4),
        module_px=round(layout.module_px, 4),
        inverted=inverted,
    )


def contrast_ratio(one: str, other: str) -> float:
    """Return the contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, contrast ratio)."""
    low, high = sorted((_relative_luminance(one), _relative_luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _ground(spec: RenderSpec) -> str:
    return spec.dark or _BLACK


def _read(symbol: Symbol, dark_luma: int, light_luma: int) -> bytes | None:
    """One pixel a module and no border: 0.03 ms for version 1, where a general search takes 0.3."""
    image = np.where(symbol.modules, np.uint8(dark_luma), np.uint8(light_luma))
    barcode = zxingcpp.read_barcode(
        image,
        formats=_QR_CODE,
        is_pure=True,
        try_rotate=False,
        try_downscale=False,
        try_invert=False,
        binarizer=zxingcpp.Binarizer.GlobalHistogram,
    )
    return bytes(barcode.bytes) if barcode is not None and barcode.valid else None


def _luma(colour: str) -> int:
    """Brightness 0 to 255 as zxing-cpp and cameras weigh it (ITU-R BT.601)."""
    red, green, blue = bytes.fromhex(colour[1:])
    return (306 * red + 601 * green + 117 * blue + 0x200) >> 10


def _relative_luminance(colour: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in bytes.fromhex(colour[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= _LINEAR_UP_TO else ((channel + 0.055) / 1.055) ** 2.4
