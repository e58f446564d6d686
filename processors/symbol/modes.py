"""Modes and their data bits (ISO/IEC 18004:2015, 7.3 and 7.4)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ALPHANUMERIC: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
"""Characters by their value (table 5)."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode of a segment.

    indicator: 4 bits (table 2). count_bits: length of the character count indicator in
    versions 1 to 9, 10 to 26 and 27 to 40 (table 3). group: characters encoded
    together. bits: length of a group by its number of characters. unit: what a
    capacity counts, for messages.
    """

    indicator: int
    count_bits: tuple[int, int, int]
    group: int
    bits: tuple[int, ...]
    unit: str

    def count_length(self, version: int) -> int:
        """Bits of the character count indicator (table 3)."""
        return self.count_bits[(version > 9) + (version > 26)]  # noqa: PLR2004 - the table's columns

    def data_length(self, characters: int) -> int:
        """Bits of the data alone (7.4.3 to 7.4.5)."""
        groups, rest = divmod(characters, self.group)
        return groups * self.bits[-1] + self.bits[rest]

    def characters_in(self, bits: int) -> int:
        """Return the most characters whose data bits are at most `bits`."""
        groups, room = divmod(bits, self.bits[-1])
        return groups * self.group + sum(length <= room for length in self.bits[1:-1])


MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {
        "numeric": Mode(0b0001, (10, 12, 14), 3, (0, 4, 7, 10), "digits"),
        "alphanumeric": Mode(0b0010, (9, 11, 13), 2, (0, 6, 11), "alphanumeric characters"),
        "byte": Mode(0b0100, (8, 16, 16), 1, (0, 8), "bytes"),
    }
)


def mode_of(content: bytes) -> str:
    """Return the densest of numeric, alphanumeric and byte that takes every character.

    Never segno's own guess: it looks at encoded bytes, and takes UTF-8 for Shift JIS.
    """
    if content.isdigit():
        return "numeric"
    return "byte" if content.translate(None, ALPHANUMERIC) else "alphanumeric"


def _digit_groups() -> dict[bytes, str]:
    bits = MODES["numeric"].bits
    return {
        b"%0*d" % (digits, value): f"{value:0{bits[digits]}b}"
        for digits in (1, 2, 3)
        for value in range(10**digits)
    }


def _alphanumeric_groups() -> dict[bytes, str]:
    single, pair = MODES["alphanumeric"].bits[1:]
    values = list(enumerate(ALPHANUMERIC))
    groups = {bytes([one]): f"{value:0{single}b}" for value, one in values}
    for high, first in values:
        for low, second in values:
            groups[bytes([first, second])] = f"{high * 45 + low:0{pair}b}"
    return groups


# Bits as text: joined and read as one number they cost a look-up a group, and no shift of a
# number that grows with each.
_GROUPS: Final = {"numeric": _digit_groups(), "alphanumeric": _alphanumeric_groups()}


def data_bits(mode: str, content: bytes) -> int:
    """Return the content's bits as one number; `Mode.data_length` says how many (7.4.3 to 7.4.5)."""
    if mode == "byte":
        return int.from_bytes(content, "big")
    groups, step = _GROUPS[mode], MODES[mode].group
    return int("".join([groups[content[at : at + step]] for at in range(0, len(content), step)]), 2)
