"""The symbol of a content: its modules, by segno (ISO/IEC 18004:2015)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
import segno

from processors.errors import RenderRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from processors.spec import RenderSpec

_ALPHANUMERIC: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"

# ISO/IEC 18004:2015, table 7: characters that version 40 holds, by mode and level.
CAPACITY: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {
        "numeric": {"l": 7089, "m": 5596, "q": 3993, "h": 3057},
        "alphanumeric": {"l": 4296, "m": 3391, "q": 2420, "h": 1852},
        "byte": {"l": 2953, "m": 2331, "q": 1663, "h": 1273},
    }
)
_UNITS: Final = {
    "numeric": "digits",
    "alphanumeric": "alphanumeric characters",
    "byte": "bytes",
}


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A symbol without quiet zone.

    modules: uint8, n x n with n = 17 + 4 * version, 1 is dark. version: 1 to 40.
    error_correction: l, m, q or h, as reached. mask: 0 to 7.
    """

    modules: NDArray[np.uint8]
    version: int
    error_correction: str
    mask: int

    @property
    def side(self) -> int:
        """Modules along one side."""
        return len(self.modules)


def mode_of(content: bytes) -> str:
    """Return the densest of numeric, alphanumeric and byte that takes every character.

    Never segno's own guess: it looks at encoded bytes, and takes UTF-8 for Shift JIS.
    """
    if content.isdigit():
        return "numeric"
    return "byte" if content.translate(None, _ALPHANUMERIC) else "alphanumeric"


def make_symbol(spec: RenderSpec) -> Symbol:
    """Encode a spec's content. Raises RenderRefused content_too_long naming the level's limit."""
    mode = mode_of(spec.content)
    limit = CAPACITY[mode][spec.error_correction]
    if len(spec.content) > limit:
        raise _too_long(len(spec.content), mode, spec.error_correction)
    made = segno.make(
        spec.content,
        error=spec.error_correction,
        mode=mode,
        encoding="utf-8",
        micro=False,
        boost_error=spec.boost,
    )
    return Symbol(
        modules=np.array([list(row) for row in made.matrix], dtype=np.uint8),
        version=int(made.version),
        error_correction=str(made.error).lower(),
        mask=int(made.mask),
    )


def _too_long(length: int, mode: str, level: str) -> RenderRefused:
    limits = CAPACITY[mode]
    wider = [f"{other} {limits[other]:,}" for other in limits if length <= limits[other]]
    advice = f"ask for level {' or '.join(wider)}, or shorten it" if wider else "shorten it"
    return RenderRefused(
        "content_too_long",
        f"the content has {length:,} {_UNITS[mode]}; level {level} holds at most "
        f"{limits[level]:,} {_UNITS[mode]}; {advice}",
    )
