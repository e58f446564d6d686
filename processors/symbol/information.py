"""Format and version information (ISO/IEC 18004:2015, 7.9, 7.10, annexes C and D)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from processors.symbol.capacity import FIRST_WITH_VERSION_INFORMATION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEVEL_INDICATOR: Final = {"l": 0b01, "m": 0b00, "q": 0b11, "h": 0b10}
_FORMAT_GENERATOR: Final = 0b101_0011_0111
_FORMAT_MASK: Final = 0b101_0100_0001_0010
_VERSION_GENERATOR: Final = 0b1_1111_0010_0101


def _with_bch(data: int, generator: int) -> int:
    """Append the remainder of data * x^degree modulo the generator (annex C.2, D.2)."""
    degree = generator.bit_length() - 1
    remainder = data << degree
    while remainder.bit_length() > degree:
        remainder ^= generator << (remainder.bit_length() - 1 - degree)
    return data << degree | remainder


def format_information(level: str, mask: int) -> int:
    """Return the 15 bits of a level and a mask (7.9.1, table C.1)."""
    return _with_bch(_LEVEL_INDICATOR[level] << 3 | mask, _FORMAT_GENERATOR) ^ _FORMAT_MASK


def version_information(version: int) -> int:
    """Return the 18 bits of a version from 7 on (7.10, table D.1)."""
    return _with_bch(version, _VERSION_GENERATOR)


def draw_information(modules: NDArray[np.uint8], version: int, level: str, mask: int) -> None:
    """Draw format information, dark module and version information into n x n modules.

    Figures 25 and 28: bit 0 is the least significant.
    """
    bits = format_information(level, mask)
    for bit in range(15):
        colour = bits >> bit & 1
        # Beside the upper left finder, around its corner; row and column 6 are timing.
        if bit < 8:  # noqa: PLR2004 - as the figure divides them
            modules[bit + (bit > 5), 8] = colour  # noqa: PLR2004
            modules[8, -1 - bit] = colour
        else:
            modules[8, 14 - bit + (bit == 8)] = colour  # noqa: PLR2004
            modules[bit - 15, 8] = colour
    modules[-8, 8] = 1
    if version >= FIRST_WITH_VERSION_INFORMATION:
        bits = version_information(version)
        for bit in range(18):
            along, across = divmod(bit, 3)
            modules[along, across - 11] = modules[across - 11, along] = bits >> bit & 1
