"""How the lines of a raster are sent in deflate: what is the same in each symbol, and the code of what is not."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from processors.images.bit_joining import WORD, Codes
from processors.images.deflate import (
    LONGEST_COPY,
    NO_BITS,
    SHORTEST_COPY,
    Bits,
    BlockCode,
    Copy,
    Token,
    copies,
    symbol_of,
)
from processors.images.raster import WINDOWS, Raster

NO_FILTER, UP = 0, 2
"""Filter types of a line (PNG specification, third edition, 9.2)."""
_PASSES: Final = 3
"""A code is made for a spelling of the runs, the runs are spelt anew by the code; a third code is the last to be shorter."""
_LONG_LINE: Final = 2 * LONGEST_COPY
"""A copy of the line before has some eight extra bits of distance for each 258 bytes, a copy of zeros none; but the
filter type and the first zero are literals. For lines of more than two copies the latter are shorter."""


class Run(NamedTuple):
    """Equal bytes, sent as so many literals, or as one and copies of it."""

    byte: int
    length: int


class Piece(NamedTuple):
    """Runs and copies one behind the other, as often as `times` says."""

    parts: tuple[Run | Copy, ...]
    times: int = 1


Pieces = tuple[Piece, ...]


class LineCode:
    """The code of a raster.

    up: a repeated line is sent as filter type Up over zeros, else as a copy of the line before it.
    head, between, tail: bits before the first line's modules, between those of two lines, and
    behind the last's.
    """

    def __init__(self, raster: Raster) -> None:
        self.up = raster.line_bytes > _LONG_LINE
        self._raster = raster
        shown = raster.bytes_of_windows()
        self._group, self._last_group = _Runs(shown), _Runs(shown[:, : raster.last_group_bytes])
        begin = _line(Run(NO_FILTER, 1), Run(raster.light_byte, raster.left_bytes))
        end = _line(Run(raster.light_byte, raster.right_bytes)) + self._again(raster.module_px - 1)
        head = self._border(raster.before_px) + begin
        tail = end + self._border(raster.after_px)

        expected = self._expected(((head, 1), (end + begin, raster.side - 1), (tail, 1)))
        self._spelling = {part: min(_spellings(part), key=len) for part in expected}
        for _ in range(_PASSES - 1):
            self._code = self._code_for(expected)
            self._spelling = {part: self._shortest(part) for part in expected}
        self._code = self._code_for(expected)
        self._bits = {part: self._code.tokens(tokens) for part, tokens in self._spelling.items()}
        self.head = self._code.header.then(self._joined(head))
        self.between = self._joined(end + begin)
        self.tail = self._joined(tail).then(self._code.end)

    def group_codes(self) -> Codes:
        """Codes of a group's windows, and below them those of the last group's: 1,024 x words of 64 bits."""
        codes = self._group.codes(self._bits) + self._last_group.codes(self._bits)
        words = -(-max(length for _, length in codes) // WORD)
        values = np.frombuffer(b"".join(value.to_bytes(8 * words, "little") for value, _ in codes), "<u8")
        left = np.array([length for _, length in codes])[:, None] - WORD * np.arange(words)
        return Codes(values.astype(np.uint64).reshape(-1, words), np.clip(left, 0, WORD).astype(np.uint64))

    def _joined(self, pieces: Pieces) -> Bits:
        bits = NO_BITS
        for parts, times in pieces:
            once = NO_BITS
            for part in parts:
                once = once.then(self._bits[part])
            bits = bits.then(once.times(times))
        return bits

    def _expected(self, same: tuple[tuple[Pieces, int], ...]) -> Counter[Run | Copy]:
        """How often each part comes in 512 images, in which every group shows each window once a line."""
        expected: Counter[Run | Copy] = Counter()
        for pieces, times in same:
            for parts, repeated in pieces:
                for part in parts:
                    expected[part] += WINDOWS * times * repeated
        for runs, groups in ((self._group, self._raster.groups - 1), (self._last_group, 1)):
            for run, times in runs.counts.items():
                expected[run] += times * groups * self._raster.side
        return +expected

    def _code_for(self, expected: Counter[Run | Copy]) -> BlockCode:
        symbols: Counter[int] = Counter()
        for part, times in expected.items():
            for token in self._spelling[part]:
                symbols[symbol_of(token)] += times
        return BlockCode(symbols, far=self._raster.line_bytes + 1)

    def _shortest(self, part: Run | Copy) -> tuple[Token, ...]:
        ways = [way for way in _spellings(part) if self._code.has(way)]
        return min(ways, key=lambda way: self._code.tokens(way).length)

    def _border(self, lines: int) -> Pieces:
        """So many lines without modules."""
        if not lines:
            return ()
        return _line(Run(NO_FILTER, 1), Run(self._raster.light_byte, self._raster.line_bytes)) + self._again(lines - 1)

    def _again(self, times: int) -> Pieces:
        """The line before, so many times."""
        if not times:
            return ()
        if self.up:
            return (Piece((Run(UP, 1), Run(0, self._raster.line_bytes)), times),)
        length = self._raster.line_bytes + 1
        counted = Counter(copies(times * length, length))
        return tuple(Piece((copy,), times) for copy, times in counted.items())


class _Runs:
    """The runs of equal bytes that the windows of a group show; `shown`: windows x bytes."""

    def __init__(self, shown: NDArray[np.uint8]) -> None:
        begins = np.ones(shown.shape, np.bool_)
        begins[:, 1:] = shown[:, 1:] != shown[:, :-1]
        at = np.flatnonzero(begins)
        lengths = np.diff(np.append(at, shown.size))
        self._runs = [Run(*run) for run in zip(shown.reshape(-1)[at].tolist(), lengths.tolist(), strict=True)]
        self._ends = np.cumsum(begins.sum(axis=1)).tolist()
        self.counts = Counter(self._runs)

    def codes(self, bits: dict[Run | Copy, Bits]) -> list[Bits]:
        """The bits of each window."""
        codes, begin = [], 0
        for end in self._ends:
            value = length = 0
            for run in self._runs[begin:end]:
                code, added = bits[run]
                value |= code << length
                length += added
            codes.append(Bits(value, length))
            begin = end
        return codes


def _line(*runs: Run) -> Pieces:
    return (Piece(tuple(run for run in runs if run.length)),)


def _spellings(part: Run | Copy) -> list[tuple[Token, ...]]:
    """The ways to send a part; where two are as short, the first is taken."""
    if isinstance(part, Copy):
        return [(part,)]
    ways: list[tuple[Token, ...]] = [(part.byte,) * part.length]
    if part.length > SHORTEST_COPY:
        ways.append((part.byte, *copies(part.length - 1, 1)))
    return ways
