"""What each version holds at each level (ISO/IEC 18004:2015, 6.4 and tables 1, 7 and 9)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from processors.errors import RenderRefused
from processors.symbol.modes import MODES

if TYPE_CHECKING:
    from collections.abc import Mapping

LEVELS: Final = ("l", "m", "q", "h")
VERSIONS: Final = range(1, 41)
FIRST_WITH_VERSION_INFORMATION: Final = 7

# Table 9, by version from 1. All else of that table follows from these and the module counts.
_EC_CODEWORDS_PER_BLOCK: Final = {
    "l": (7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28,
          28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30),
    "m": (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
          26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28),
    "q": (13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30,
          28, 30, 30, 30, 30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30),
    "h": (17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28,
          30, 24, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30),
}  # fmt: skip
_BLOCKS: Final = {
    "l": (1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8,
          8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25),
    "m": (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16,
          17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49),
    "q": (1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20,
          23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68),
    "h": (1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25,
          25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81),
}  # fmt: skip


def side_of(version: int) -> int:
    """Modules along one side (6.3.1)."""
    return 17 + 4 * version


def alignment_centres(version: int) -> tuple[int, ...]:
    """Return the rows, and columns, of alignment pattern centres (annex E, table E.1).

    They run from 6 to n - 7, evenly and in even steps but for the first, which takes
    what is left. Version 32 alone has a step of 26 where this would give 28.
    """
    if version == 1:
        return ()
    gaps = version // 7 + 1
    first, last = 6, side_of(version) - 7
    step = 26 if version == 32 else -((first - last) // (2 * gaps)) * 2  # noqa: PLR2004
    return (first, *range(last - (gaps - 1) * step, last + 1, step))


def encoding_modules(version: int) -> int:
    """Modules for data, error correction and remainder bits (table 1).

    All less three finder patterns with separators, format information and dark module,
    two timing patterns, the alignment patterns and the version information.
    """
    side, centres = side_of(version), len(alignment_centres(version))
    finders, format_information, timing = 3 * 64, 31, 2 * (side - 16)
    alignment = 25 * max(0, centres**2 - 3)
    on_timing = 5 * 2 * max(0, centres - 2)  # those in row or column 6 share modules with timing
    version_information = 36 if version >= FIRST_WITH_VERSION_INFORMATION else 0
    function = finders + format_information + timing + alignment - on_timing + version_information
    return side * side - function


@dataclass(frozen=True, slots=True)
class Blocks:
    """Error correction blocks of a version at a level (table 9).

    The first `count - longer` blocks have `data_each` data codewords, the last `longer`
    one more; each has `ec_each` error correction codewords.
    """

    count: int
    longer: int
    data_each: int
    ec_each: int

    @property
    def data(self) -> int:
        """Data codewords of all blocks."""
        return self.count * self.data_each + self.longer

    @property
    def total(self) -> int:
        """Codewords of the symbol."""
        return self.data + self.count * self.ec_each


def blocks_of(version: int, level: str) -> Blocks:
    """Return the block structure of a version at a level (table 9)."""
    total = encoding_modules(version) // 8
    count = _BLOCKS[level][version - 1]
    ec_each = _EC_CODEWORDS_PER_BLOCK[level][version - 1]
    each, longer = divmod(total, count)
    return Blocks(count, longer, each - ec_each, ec_each)


def _characters(version: int, level: str, mode: str) -> int:
    known = MODES[mode]
    return known.characters_in(8 * blocks_of(version, level).data - 4 - known.count_length(version))


CHARACTERS: Final[Mapping[str, Mapping[str, tuple[int, ...]]]] = MappingProxyType(
    {
        mode: MappingProxyType(
            {level: tuple(_characters(version, level, mode) for version in VERSIONS) for level in LEVELS}
        )
        for mode in MODES
    }
)
"""Characters that each version holds in one segment, by mode and level, from version 1 (table 7)."""

CAPACITY: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {mode: MappingProxyType({level: held[-1] for level, held in levels.items()}) for mode, levels in CHARACTERS.items()}
)
"""Characters that version 40 holds, by mode and level."""


def smallest_version(mode: str, level: str, characters: int) -> int:
    """Return the first version that holds so many. Raises RenderRefused content_too_long."""
    held = CHARACTERS[mode][level]
    if characters > held[-1]:
        raise _too_long(characters, mode, level)
    return bisect_left(held, characters) + 1


def boosted(mode: str, level: str, characters: int, version: int) -> str:
    """Return the highest level from `level` on at which the version still holds so many."""
    levels = CHARACTERS[mode]
    for higher in LEVELS[LEVELS.index(level) + 1 :]:
        if characters > levels[higher][version - 1]:
            break
        level = higher
    return level


def _too_long(length: int, mode: str, level: str) -> RenderRefused:
    limits, unit = CAPACITY[mode], MODES[mode].unit
    wider = [f"{other} {limits[other]:,}" for other in limits if length <= limits[other]]
    advice = f"ask for level {' or '.join(wider)}, or shorten it" if wider else "shorten it"
    return RenderRefused(
        "content_too_long",
        f"the content has {length:,} {unit}; level {level} holds at most {limits[level]:,} {unit}; {advice}",
    )
