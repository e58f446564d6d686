"""Read a finished symbol back before it is published, and say what may keep others from reading it.

colours       the two colours as readers see them: contrast, brightness, which is darker
read_back     the decoder
charset       texts that some readers take for another character set
scan_policy   the warnings: when, why, and what to change; and the policy that refuses them
damage        how much of a symbol can be lost until it is unreadable, for reports
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from processors.errors import RenderRefused
from processors.verify.charset import other_readings
from processors.verify.colours import check_colours, colour_pair, contrast_ratio
from processors.verify.read_back import BLACK_ON_WHITE, DECODER, read_back
from processors.verify.scan_policy import ScanPolicy, explain, warnings_of
from schemas.events import Verification

if TYPE_CHECKING:
    from processors.images.layout import Layout
    from processors.spec import RenderSpec
    from processors.symbol import Symbol

__all__ = ["DECODER", "ScanPolicy", "check_colours", "contrast_ratio", "explain", "verify"]


def verify(
    spec: RenderSpec, symbol: Symbol, layout: Layout, policy: ScanPolicy = ScanPolicy.WARN
) -> Verification:
    """Decode the symbol in the brightness of its colours, and compare it to the content byte for byte.

    Raises RenderRefused: unscannable when its colours are too close for the decoder, or the
    policy refuses one of its warnings; verification_failed when it reads something else.
    """
    colours = colour_pair(spec.dark, spec.light)
    read = read_back(symbol.modules, colours.brightness)
    if read != spec.content:
        if read is None and read_back(symbol.modules, BLACK_ON_WHITE) == spec.content:
            raise RenderRefused(
                "unscannable",
                f"dark {colours.dark} and light {colours.light} are too close in brightness to be read "
                f"(contrast ratio {colours.contrast_ratio:.2f} to 1); choose colours further apart",
            )
        found = "nothing" if read is None else f"{len(read):,} other bytes"
        raise RenderRefused("verification_failed", f"the symbol reads back to {found}")
    facts = Verification(
        decoder=DECODER,
        contrast_ratio=round(colours.contrast_ratio, 4),
        quiet_zone_modules=round(layout.quiet_zone_modules, 4),
        module_px=round(layout.module_px, 4),
        inverted=colours.inverted,
    )
    warnings = warnings_of(
        facts, raster=spec.format == "png", ambiguous_text=bool(other_readings(spec.content))
    )
    if not warnings:
        return facts
    return policy.passed(replace(facts, warnings=warnings))
