"""Profiles: a name that fixes an artifact's matrix and file bytes, and the defaults of a request.

The profile's name is hashed into the content hash, the renderer's version is not: changed
bytes are a new profile. `qr-0` is unstable; its bytes may change until `qr-1` is frozen.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DefaultValue = str | bool | int | None


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profile's name stands for.

    renderer: name and version of what makes the symbols, recorded in the event.
    defaults: value of each output-affecting field that a request leaves out; scale
    holds only where size is null too. max_side_px: longest side of an image.
    max_artifact_bytes: largest file.
    """

    name: str
    renderer: str
    defaults: Mapping[str, DefaultValue]
    max_side_px: int
    max_artifact_bytes: int

    @property
    def default_scale(self) -> int:
        """Scale of a request with neither scale nor size, px per module."""
        return int(self.defaults["scale"] or 0)


# That of the package: the symbols come from processors/symbol.
_RENDERER: Final = "qrstream/0.1.0"

# The defaults are part of the content hash: a test pins the table, a new value is a new profile.
_QR_0: Final = Profile(
    name="qr-0",
    renderer=_RENDERER,
    defaults=MappingProxyType(
        {
            "format": "png",
            "error_correction": "m",
            "boost": True,
            "scale": 8,
            "size": None,
            "margin": 4,
            "dark": "#000000",
            "light": "#ffffff",
            "profile": "qr-0",
        }
    ),
    # 10,000 px is 85 cm at 300 dpi; a PNG of that side unpacks to 12.5 MB. Higher costs a
    # worker more memory than its batch may have; print beyond it takes SVG.
    max_side_px=10_000,
    # What a changelog row may hold: the artifact is one, and travels inline in each event.
    max_artifact_bytes=256 * 1024,
)

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({_QR_0.name: _QR_0})
DEFAULT_PROFILE: Final = _QR_0
