"""The formats: each declared once, with its writer; help texts, pages and limits come from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from processors.images import eps, pdf, png, svg, txt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from processors.images.layout import Layout
    from processors.spec import RenderSpec

Writer = Callable[["NDArray[np.uint8]", "RenderSpec", "Layout"], bytes]


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table.

    name: as requests have it, and the file's extension. write: modules (uint8, n x n, 1 is dark),
    spec and layout to the file's bytes; raises RenderRefused format_unavailable for an option that
    the format cannot have. takes_scale: modules have a size. whole_scale: it is whole pixels.
    longest_side: limit below the profile's, in the layout's unit. unit: what a px is in the file.
    """

    name: str
    media_type: str
    unit: str
    colours: str
    write: Writer
    takes_scale: bool = True
    whole_scale: bool = False
    longest_side: int | None = None

    @property
    def is_drawing(self) -> bool:
        """Whether it is drawn as runs of modules, so that its bytes depend on the margin and not on the scale."""
        return self.takes_scale and not self.whole_scale


_ROWS: Final = (
    Format(
        "png", "image/png", "pixel", "any two, one of them transparent",
        lambda modules, spec, layout: png.write_png(modules, layout, spec.dark, spec.light),
        whole_scale=True,
    ),
    Format(
        "svg", "image/svg+xml", "CSS px", "any two, one of them transparent",
        lambda modules, spec, layout: svg.write_svg(modules, spec.margin, layout, spec.dark, spec.light),
    ),
    Format(
        "pdf", "application/pdf", "point (1/72 inch)", "any two, one of them transparent",
        lambda modules, spec, layout: pdf.write_pdf(modules, spec.margin, layout, spec.dark, spec.light),
    ),
    Format(
        "eps", "application/postscript", "point (1/72 inch)", "any two, one of them transparent",
        lambda modules, spec, layout: eps.write_eps(modules, spec.margin, layout, spec.dark, spec.light),
    ),
    Format(
        "txt", "text/plain; charset=utf-8", "character", "black and white, either way round",
        txt.write_spec,
        takes_scale=False,
        # Three bytes a character and two modules a character make 240,200 bytes, within what an event carries.
        longest_side=400,
    ),
)

FORMATS: Final[Mapping[str, Format]] = MappingProxyType({row.name: row for row in _ROWS})


def names() -> str:
    """All names in a sentence: `png, svg, pdf, eps or txt`."""
    *others, last = FORMATS
    return f"{', '.join(others)} or {last}"


def markdown() -> str:
    """Return the table as docs/images.md has it."""
    lines = ["| format | media type | 1 px is | scale | colours |", "|---|---|---|---|---|"]
    for row in FORMATS.values():
        scale = "none: a module is half a character" if not row.takes_scale else "whole" if row.whole_scale else "any from 0.01"
        lines.append(f"| `{row.name}` | `{row.media_type}` | {row.unit} | {scale} | {row.colours} |")
    return "\n".join(lines) + "\n"
