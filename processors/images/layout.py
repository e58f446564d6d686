"""Where the modules lie in an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from processors.errors import RenderRefused

if TYPE_CHECKING:
    from processors.spec import RenderSpec


@dataclass(frozen=True, slots=True)
class Layout:
    """Lengths in px. before_px: border left and above; after_px: right and below."""

    side_px: float
    module_px: float
    before_px: float
    after_px: float

    @property
    def quiet_zone_modules(self) -> float:
        """Width of the quiet zone at its narrowest side, in modules."""
        return min(self.before_px, self.after_px) / self.module_px


def lay_out(spec: RenderSpec, modules: int, max_side_px: int) -> Layout:
    """Place `modules` along one side, and the margin, into the asked scale or size.

    A raster of exact size has whole modules; the pixels left over widen the border,
    the odd one right and below. A vector's modules fill the size exactly. Raises
    RenderRefused size_too_small or size_too_large naming the limit.
    """
    total = modules + 2 * spec.margin
    if spec.size is None:
        module_px = spec.scale or 0
        border = spec.margin * module_px
        layout = Layout(total * module_px, module_px, border, border)
    elif spec.size < total:
        raise RenderRefused(
            "size_too_small",
            f"the symbol and its margin are {total:,} modules wide; ask for a size of at least "
            f"{total:,} px, or a smaller margin, not {spec.size:,} px",
        )
    elif spec.format == "png":
        whole = spec.size // total
        rest = spec.size - modules * whole
        layout = Layout(spec.size, whole, rest // 2, rest - rest // 2)
    else:
        module_px = spec.size / total
        border = spec.margin * module_px
        layout = Layout(spec.size, module_px, border, border)
    if layout.side_px > max_side_px:
        raise RenderRefused(
            "size_too_large",
            f"the image would be {layout.side_px:,.0f} px wide; at most {max_side_px:,} px are made; "
            "ask for a smaller scale, size or margin",
        )
    return layout
