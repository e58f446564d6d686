"""Where the modules lie in an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from processors.errors import RenderRefused
from processors.images.formats import FORMATS

if TYPE_CHECKING:
    from processors.spec import RenderSpec


@dataclass(frozen=True, slots=True)
class Layout:
    """Lengths in px, in characters for a text. before_px: border left and above; after_px: right and below.

    exact: the side was asked for, not the scale.
    """

    side_px: float
    module_px: float
    before_px: float
    after_px: float
    exact: bool = False

    @property
    def quiet_zone_modules(self) -> float:
        """Width of the quiet zone at its narrowest side, in modules."""
        return min(self.before_px, self.after_px) / self.module_px


def lay_out(spec: RenderSpec, modules: int, max_side_px: int) -> Layout:
    """Place `modules` along one side, and the margin, into the asked scale or size.

    A raster of exact size has whole modules; the pixels left over widen the border,
    the odd one right and below. A vector's modules fill the size exactly. A text has
    a character a module. Raises RenderRefused size_too_small or size_too_large naming
    the limit.
    """
    file_format = FORMATS[spec.format]
    total = modules + 2 * spec.margin
    if not file_format.takes_scale:
        layout = Layout(total, 1, spec.margin, spec.margin)
    elif spec.size is None:
        module_px = spec.scale or 0
        border = spec.margin * module_px
        layout = Layout(total * module_px, module_px, border, border)
    elif spec.size < total:
        raise RenderRefused(
            "size_too_small",
            f"the symbol and its margin are {total:,} modules wide; ask for a size of at least "
            f"{total:,} px, or a smaller margin, not {spec.size:,} px",
        )
    elif file_format.whole_scale:
        whole = spec.size // total
        rest = spec.size - modules * whole
        layout = Layout(spec.size, whole, rest // 2, rest - rest // 2, exact=True)
    else:
        module_px = spec.size / total
        border = spec.margin * module_px
        layout = Layout(spec.size, module_px, border, border, exact=True)
    limit = min(max_side_px, file_format.longest_side or max_side_px)
    if layout.side_px > limit:
        unit = "px" if file_format.takes_scale else "characters"
        options = "scale, size or margin" if file_format.takes_scale else "margin"
        raise RenderRefused(
            "size_too_large",
            f"the image would be {layout.side_px:,.0f} {unit} wide; at most {limit:,} {unit} are made; "
            f"ask for a smaller {options}",
        )
    return layout
