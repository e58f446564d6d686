"""What encoding gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A symbol without quiet zone.

    modules: uint8, n x n with n = 17 + 4 * version, C-contiguous, 1 is dark. version:
    1 to 40. error_correction: l, m, q or h, as reached. mask: 0 to 7.
    """

    modules: NDArray[np.uint8]
    version: int
    error_correction: str
    mask: int

    @property
    def side(self) -> int:
        """Modules along one side."""
        return len(self.modules)
