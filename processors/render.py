"""Make the artifact of a spec: symbol, reading back, file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from processors.errors import RenderError, RenderRefused
from processors.images.drawing import least_bytes
from processors.images.formats import FORMATS
from processors.images.layout import lay_out
from processors.profile import PROFILES
from processors.symbol import make_symbol
from processors.verify import ScanPolicy, check_colours, verify

if TYPE_CHECKING:
    from processors.images.formats import Format
    from processors.profile import Profile
    from processors.spec import RenderSpec
    from schemas.events import Verification


@dataclass(frozen=True, slots=True)
class Rendered:
    """A finished artifact and its facts.

    version: 1 to 40. error_correction: as reached, at least as asked. mask: 0 to 7.
    renderer: name and version of what made the symbol.
    """

    artifact: bytes
    media_type: str
    version: int
    error_correction: str
    mask: int
    verification: Verification
    renderer: str


def render(spec: RenderSpec, policy: ScanPolicy = ScanPolicy.WARN) -> Rendered:
    """Render a spec: the same bytes on every worker, read back before they are returned.

    policy: whether scan warnings are facts of the artifact, or refuse it.
    Raises RenderRefused, and nothing else: an error that we do not know becomes
    render_failed with its cause.
    """
    try:
        return _rendered(spec, PROFILES[spec.profile], policy)
    except RenderError:
        raise
    except Exception as error:
        raise RenderRefused(
            "render_failed", f"the renderer raised {type(error).__name__}; see the worker's log"
        ) from error


def _rendered(spec: RenderSpec, profile: Profile, policy: ScanPolicy) -> Rendered:
    file_format = FORMATS[spec.format]
    check_colours(spec)
    symbol = make_symbol(spec)
    layout = lay_out(spec, symbol.side, profile.max_side_px)
    verification = verify(spec, symbol, layout, policy)
    # Asked first: a margin of half a million transparent rows takes seconds and a gigabyte to draw.
    if file_format.is_drawing and least_bytes(spec.margin, spec.dark) > profile.max_artifact_bytes:
        raise _too_large(spec, file_format, profile)
    artifact = file_format.write(symbol.modules, spec, layout)
    if len(artifact) > profile.max_artifact_bytes:
        raise _too_large(spec, file_format, profile)
    return Rendered(
        artifact,
        file_format.media_type,
        symbol.version,
        symbol.error_correction,
        symbol.mask,
        verification,
        profile.renderer,
    )


def _too_large(spec: RenderSpec, file_format: Format, profile: Profile) -> RenderRefused:
    options = "margin" if file_format.is_drawing else "scale, size or margin"
    return RenderRefused(
        "output_too_large",
        f"the {spec.format} has more than the {profile.max_artifact_bytes:,} bytes that are carried; ask for a smaller {options}",
    )
