"""What `qrstream bench render` measures: a symbol and its file, ours beside segno's.

All times are CPU time of this thread. Contents never repeat and nothing is kept of a result; ours and segno's take
turns, so that both see the same machine. Ratios mean the same on every machine, milliseconds do not.
"""

from __future__ import annotations

import gc
import secrets
import statistics
import time
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from typing import Any, Final

import segno

from processors.images.layout import lay_out
from processors.images.png import write_png
from processors.images.svg import write_svg
from processors.profile import DEFAULT_PROFILE
from processors.spec import OutputFields, RenderSpec, normalise
from processors.symbol import Symbol, forget_plans, make_symbol
from processors.symbol.capacity import CHARACTERS, LEVELS, VERSIONS
from processors.verify import verify

LEVEL: Final = "m"
COMPARED: Final = (3, 10, 40)
TURNS: Final = {3: 60, 10: 25, 40: 5}
"""Turns of each version, one symbol of segno's each; it takes a tenth of a second and more for the largest."""
OURS_A_TURN: Final = 20
"""As a worker renders them, in a row: a tenth of a second of segno leaves nothing of ours in the processor's caches."""
VERIFIED: Final = 300
LONG: Final = 40
"""Bytes from which a content begins as an address does."""
MIB: Final = 1 << 20

AIMS: Final = {
    "v3_png_ratio": ">= 40", "v10_png_ratio": ">= 60", "v40_png_ratio": ">= 100",
    "v3_svg_ratio": ">= 8", "v10_svg_ratio": ">= 8", "v40_svg_ratio": ">= 8",
    "v3_verify_ms": "<= 0.15", "first_symbol_ms": "<= 150", "plans_mib": "<= 40",
}


def measure(scale: float = 1.0) -> dict[str, float]:
    """Return every figure by its name. scale: part of the turns, for a slow machine."""
    first = first_symbol_ms()
    figures = {f"v{version}_{kind}_ratio": ratio(version, kind, max(2, round(TURNS[version] * scale))) for kind in ("png", "svg") for version in COMPARED}
    return {**figures, "v3_verify_ms": verify_ms(3, max(2, round(VERIFIED * scale))), "first_symbol_ms": first, "plans_mib": plans_mib()}


def ratio(version: int, file_format: str, turns: int) -> float:
    """How many times longer segno takes for a symbol and its file at scale 8, by the median of the turns."""
    ours: list[float] = []
    theirs: list[float] = []
    _our_file(_spec(version, file_format))  # plans and imports are measured by `first_symbol_ms`
    _segno_file(_spec(version, file_format))
    for _ in range(turns):
        specs = [_spec(version, file_format) for _ in range(OURS_A_TURN)]
        ours += [_seconds(_our_file, spec) for spec in specs]
        theirs.append(_seconds(_segno_file, _spec(version, file_format)))
    return statistics.median(theirs) / statistics.median(ours)


def verify_ms(version: int, turns: int) -> float:
    """Milliseconds for reading a symbol back, by the median."""
    times: list[float] = []
    for _ in range(turns):
        spec = _spec(version, "png")
        symbol = make_symbol(spec)
        layout = lay_out(spec, symbol.side, DEFAULT_PROFILE.max_side_px)
        times.append(_seconds(verify, spec, symbol, layout))
    return 1000 * statistics.median(times)


def first_symbol_ms() -> float:
    """Milliseconds for the first symbol of a version in a process that has made none, of the slowest version."""
    worst = 0.0
    for version in VERSIONS:
        forget_plans()
        worst = max(worst, _seconds(make_symbol, _spec(version, "png")))
    return 1000 * worst


def plans_mib() -> float:
    """MiB that are kept once a symbol of each version and level has been made."""
    forget_plans()
    gc.collect()
    tracemalloc.start()
    try:
        for version in VERSIONS:
            for level in LEVELS:
                make_symbol(_spec(version, "png", level))
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / MIB
    finally:
        tracemalloc.stop()


def _spec(version: int, file_format: str, level: str = LEVEL) -> RenderSpec:
    """Ask for a content that nobody had before and that fills the version at the level."""
    length = CHARACTERS["byte"][level][version - 1]
    # Letters, so that the mode is bytes; the short ones of version 1 have no room for more than the random part.
    content = ("https://example.com/" * (length >= LONG) + secrets.token_urlsafe(length))[:length - 1] + "z"
    return normalise(OutputFields(content.encode(), file_format, level, False, None, None, 4, "#000000", "#ffffff", DEFAULT_PROFILE.name))


def _our_file(spec: RenderSpec) -> bytes:
    symbol: Symbol = make_symbol(spec)
    layout = lay_out(spec, symbol.side, DEFAULT_PROFILE.max_side_px)
    if spec.format == "png":
        return write_png(symbol.modules, layout, spec.dark, spec.light)
    return write_svg(symbol.modules, spec.margin, layout, spec.dark, spec.light)


def _segno_file(spec: RenderSpec) -> bytes:
    made = segno.make(spec.content, error=spec.error_correction, mode="byte", encoding="utf-8", micro=False, boost_error=spec.boost)
    out = BytesIO()
    options: dict[str, Any] = {"scale": spec.scale, "border": spec.margin, "dark": spec.dark, "light": spec.light}
    made.save(out, kind=spec.format, **options)
    return out.getvalue()


def _seconds(work: Callable[..., object], *given: object) -> float:
    began = time.thread_time()
    work(*given)
    return time.thread_time() - began
