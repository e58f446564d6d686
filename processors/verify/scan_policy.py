"""What may keep a reader from a sound symbol, and whether such a symbol is published."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from math import floor
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from processors.errors import RenderRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemas.events import Verification

LEAST_CONTRAST: Final = 3.0
"""WCAG 2.2, success criterion 1.4.11: what a graphic needs to be told from its ground. With less,
glare or a poor print leaves a camera nothing; with more, brand colours that all readers take would be warned of."""
LEAST_QUIET_ZONE: Final = 4.0
"""Modules; ISO/IEC 18004:2015, 9.1."""
LEAST_MODULE_PX: Final = 2.0
"""Of a raster image. At 1 px OpenCV's detector read one of four symbols of versions 1 to 10, at 2 px all."""


class _Warning(NamedTuple):
    """One row of the table.

    refusable: whether `refuse` refuses it. told: one line of facts with their figure, and what to change.
    """

    refusable: bool
    told: Callable[[Verification], str]


# In the order in which events list them. A name, once released, keeps its spelling.
_TABLE: Final[Mapping[str, _Warning]] = MappingProxyType(
    {
        "inverted": _Warning(
            refusable=True,
            told=lambda facts: "the modules are lighter than their ground, which some readers refuse; "
            f"swap dark and light (contrast ratio {facts.contrast_ratio:.2f} to 1 either way)",
        ),
        "low_contrast": _Warning(
            refusable=True,
            told=lambda facts: f"the contrast ratio is {floor(facts.contrast_ratio * 100) / 100:.2f} to 1, less than {LEAST_CONTRAST:g} to 1; "
            "choose a darker dark or a lighter light",
        ),
        "quiet_zone": _Warning(
            refusable=True,
            told=lambda facts: f"the quiet zone is {facts.quiet_zone_modules:g} of {LEAST_QUIET_ZONE:g} modules wide; "
            f"ask for a margin of {LEAST_QUIET_ZONE:g}",
        ),
        "small_modules": _Warning(
            refusable=True,
            told=lambda facts: f"a module is {facts.module_px:g} px wide, less than {LEAST_MODULE_PX:g} px; "
            "ask for a larger scale or size",
        ),
        # Not refusable: its bytes are right, phones read it, and for most who see it (Müller)
        # there is nothing to change.
        "ambiguous_text": _Warning(
            refusable=False,
            told=lambda _: "readers that try Big5, Shift JIS or ISO/IEC 8859-1 before UTF-8 show another text; "
            "most phones do not, and ASCII is read alike by all",
        ),
    }
)
WARNINGS: Final = tuple(_TABLE)
REFUSABLE: Final = frozenset(name for name, row in _TABLE.items() if row.refusable)


def warnings_of(facts: Verification, *, raster: bool, ambiguous_text: bool) -> tuple[str, ...]:
    """Return the names of the warnings that the facts give, in the order of the table.

    raster: whether `module_px` counts pixels, and not the units of a drawing.
    """
    holds = (
        facts.inverted,
        facts.contrast_ratio < LEAST_CONTRAST,
        facts.quiet_zone_modules < LEAST_QUIET_ZONE,
        raster and facts.module_px < LEAST_MODULE_PX,
        ambiguous_text,
    )
    if not any(holds):
        return ()
    return tuple(name for name, held in zip(WARNINGS, holds, strict=True) if held)


def explain(name: str, facts: Verification) -> str:
    """Return a warning in one line: its figure, and what to change. Raises KeyError for another name."""
    return _TABLE[name].told(facts)


class ScanPolicy(StrEnum):
    """What is done about a symbol that has warnings."""

    WARN = "warn"
    """It is published with them."""
    REFUSE = "refuse"
    """It fails if one of them is refusable."""

    def passed(self, facts: Verification) -> Verification:
        """Return the facts. Raises RenderRefused unscannable, which names each reason."""
        refused = [name for name in facts.warnings if name in REFUSABLE]
        if self is ScanPolicy.REFUSE and refused:
            raise RenderRefused(
                "unscannable", "; ".join(f"{name}: {explain(name, facts)}" for name in refused)
            )
        return facts
