"""Profiles: a name that fixes an artifact's matrix and file bytes, and the defaults of a request.

The profile's name is hashed into the content hash, the renderer's version is not: changed
bytes are a new profile. `qr-1` is frozen: its golden vectors (processors/vectors) are never edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DefaultValue = str | bool | int | None

RENDERER: Final = "qrstream/0.1.0"
"""Name and version of what makes symbols and files, the package's own; recorded in events, in no hash."""


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


_DEFAULTS: Final = MappingProxyType(
    {
        "format": "png",
        "error_correction": "m",
        "boost": True,
        "scale": 8,
        "size": None,
        "margin": 4,
        "dark": "#000000",
        "light": "#ffffff",
    }
)
# 10,000 px is 85 cm at 300 dpi; a PNG of that side unpacks to 12.5 MB, which is what its readers pay. Print beyond it
# takes SVG.
_MAX_SIDE_PX: Final = 10_000
# What a changelog row may hold: the artifact is one, and travels inline in each event.
_MAX_ARTIFACT_BYTES: Final = 256 * 1024


def _profile(name: str) -> Profile:
    return Profile(name, RENDERER, MappingProxyType({**_DEFAULTS, "profile": name}), _MAX_SIDE_PX, _MAX_ARTIFACT_BYTES)


# The defaults are part of the content hash: a test pins the table, a new value is a new profile.
_CURRENT: Final = _profile("qr-1")
# Made before qr-1 was frozen, and not frozen itself: served for publishers that still name it, with qr-1's bytes.
_PREVIOUS: Final = _profile("qr-0")

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({profile.name: profile for profile in (_CURRENT, _PREVIOUS)})
"""What a worker serves: the current profile, and the one before it for as long as publishers may name it."""
DEFAULT_PROFILE: Final = _CURRENT
