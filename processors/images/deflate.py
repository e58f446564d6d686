"""Deflate with a Huffman code that is made beforehand, for data of a known kind (RFC 1951).

A general compressor looks for repetitions and counts symbols in every file anew; ours are known
from the geometry of an image. What is here depends on nothing that is installed: neither on the
interpreter's zlib nor on a wheel, whose bytes change with their version and the processor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

LONGEST_COPY: Final = 258
SHORTEST_COPY: Final = 3
_END_OF_BLOCK: Final = 256
_LONGEST_CODE: Final = 15
_LONGEST_LENGTH_CODE: Final = 7
_LENGTH_CODE_ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
"""RFC 1951, 3.2.7: the order in which the lengths of the code length codes are sent."""
_LAST_DYNAMIC_BLOCK: Final = 0b101
"""RFC 1951, 3.2.3: BFINAL 1, BTYPE 10, the first bit lowest."""


class Bits(NamedTuple):
    """`length` bits; the first to be sent is the lowest of `value`."""

    value: int
    length: int

    def then(self, other: Bits) -> Bits:
        """These bits, and the other's behind them."""
        return Bits(self.value | other.value << self.length, self.length + other.length)

    def times(self, count: int) -> Bits:
        """These bits `count` times in a row."""
        if not count or not self.length:
            return NO_BITS
        ones = ((1 << self.length * count) - 1) // ((1 << self.length) - 1)  # a one at each beginning
        return Bits(self.value * ones, self.length * count)


NO_BITS: Final = Bits(0, 0)


class Copy(NamedTuple):
    """`length` bytes (3 to 258) over again, from `distance` bytes before."""

    length: int
    distance: int


Token = int | Copy
"""A literal byte, or a copy."""


def copies(length: int, distance: int) -> tuple[Copy, ...]:
    """Copies of `length` bytes in all, 3 or more."""
    whole, rest = divmod(length, LONGEST_COPY)
    if 0 < rest < SHORTEST_COPY:  # the copy before it gives some of its own
        short = (Copy(LONGEST_COPY + rest - SHORTEST_COPY, distance), Copy(SHORTEST_COPY, distance))
        return (Copy(LONGEST_COPY, distance),) * (whole - 1) + short
    return (Copy(LONGEST_COPY, distance),) * whole + ((Copy(rest, distance),) if rest else ())


class BlockCode:
    """The codes of one block whose copies have two distances: 1 and `far`, 5 to 32,768.

    counts: for each literal and length symbol that can occur, how often it is expected, at least 1.
    Symbols are those of RFC 1951, 3.2.5: 0 to 255 a byte, 256 the end, 257 to 285 a copy's length.
    """

    def __init__(self, counts: Mapping[int, int], far: int) -> None:
        lengths = code_lengths({**counts, _END_OF_BLOCK: 1}, _LONGEST_CODE)
        self._codes = canonical_codes(lengths)
        self._far = far
        # Two distance symbols of one bit each: a complete code, which the strictest reader takes.
        far_symbol, far_extra = distance_symbol(far)
        self._distances = {1: Bits(0, 1), far: Bits(1, 1).then(far_extra)}
        self.header = _header(lengths, {0: 1, far_symbol: 1})
        self.end = self._codes[_END_OF_BLOCK]

    def token(self, token: Token) -> Bits:
        """The bits of one token."""
        if not isinstance(token, Copy):
            return self._codes[token]
        symbol, extra = length_symbol(token.length)
        return self._codes[symbol].then(extra).then(self._distances[token.distance])

    def tokens(self, tokens: Iterable[Token]) -> Bits:
        """The bits of some tokens in a row."""
        joined = NO_BITS
        for token in tokens:
            joined = joined.then(self.token(token))
        return joined

    def has(self, tokens: Iterable[Token]) -> bool:
        """Whether each of the tokens was expected."""
        return all(symbol_of(token) in self._codes for token in tokens)


def symbol_of(token: Token) -> int:
    """The literal or length symbol that a token is sent by."""
    return length_symbol(token.length)[0] if isinstance(token, Copy) else token


def length_symbol(length: int) -> tuple[int, Bits]:
    """Symbol and extra bits of a copy's length, 3 to 258 (RFC 1951, 3.2.5)."""
    if length == LONGEST_COPY:
        return 285, NO_BITS
    above = length - SHORTEST_COPY
    extra = max(0, above.bit_length() - 3)
    return 257 + 4 * extra + (above >> extra), Bits(above & ((1 << extra) - 1), extra)


def distance_symbol(distance: int) -> tuple[int, Bits]:
    """Symbol and extra bits of a copy's distance, 1 to 32,768 (RFC 1951, 3.2.5)."""
    above = distance - 1
    extra = max(0, above.bit_length() - 2)
    return 2 * extra + (above >> extra), Bits(above & ((1 << extra) - 1), extra)


def code_lengths(counts: Mapping[int, int], limit: int) -> dict[int, int]:
    """Lengths of a best prefix code with no length above `limit`: package-merge (Larmore, Hirschberg 1990).

    counts: at least two symbols, each with how often it comes. Ties fall to the lower symbol, so
    that the same counts give the same code everywhere.
    """
    symbols = sorted(counts, key=lambda symbol: (counts[symbol], symbol))
    levels: list[list[tuple[int, bool]]] = []  # of each length: weights, and whether it is a package of two
    packages: list[int] = []
    for _ in range(limit):
        level = sorted([(counts[symbol], False) for symbol in symbols] + [(weight, True) for weight in packages])
        packages = [one + other for (one, _), (other, _) in zip(level[::2], level[1::2], strict=False)]
        levels.append(level)
    lengths = dict.fromkeys(symbols, 0)
    chosen = 2 * len(symbols) - 2
    for level in reversed(levels):
        opened = sum(is_package for _, is_package in level[:chosen])
        for symbol in symbols[: chosen - opened]:
            lengths[symbol] += 1
        chosen = 2 * opened
    return lengths


def canonical_codes(lengths: Mapping[int, int]) -> dict[int, Bits]:
    """The codes of RFC 1951, 3.2.2, turned round: a Huffman code is sent from its highest bit."""
    codes, code, before = {}, 0, 0
    for length, symbol in sorted((length, symbol) for symbol, length in lengths.items()):
        code <<= length - before
        codes[symbol] = Bits(int(f"{code:0{length}b}"[::-1], 2), length)
        code, before = code + 1, length
    return codes


def _header(literals: Mapping[int, int], distances: Mapping[int, int]) -> Bits:
    """The beginning of the one and last block (RFC 1951, 3.2.7)."""
    literal_count, distance_count = max(literals) + 1, max(distances) + 1
    sent = [literals.get(symbol, 0) for symbol in range(literal_count)]
    sent += [distances.get(symbol, 0) for symbol in range(distance_count)]
    runs = list(_runs_of_lengths(sent))
    counts: dict[int, int] = {}
    for symbol, _ in runs:
        counts[symbol] = counts.get(symbol, 0) + 1
    lengths = code_lengths(counts, _LONGEST_LENGTH_CODE)
    codes = canonical_codes(lengths)
    order = [lengths.get(symbol, 0) for symbol in _LENGTH_CODE_ORDER]
    while not order[-1]:
        order.pop()
    header = Bits(_LAST_DYNAMIC_BLOCK, 3).then(Bits(literal_count - 257, 5))
    header = header.then(Bits(distance_count - 1, 5)).then(Bits(len(order) - 4, 4))
    for length in order:
        header = header.then(Bits(length, 3))
    for symbol, extra in runs:
        header = header.then(codes[symbol]).then(extra)
    return header


def _runs_of_lengths(lengths: Sequence[int]) -> Iterable[tuple[int, Bits]]:
    """Code lengths with their repetitions: 16 copies the last 3 to 6 times, 17 and 18 are 3 to 138 zeros."""
    at = 0
    while at < len(lengths):
        length, end = lengths[at], at
        while end < len(lengths) and lengths[end] == length:
            end += 1
        left = end - at
        if length:
            yield length, NO_BITS
            left -= 1
        while left >= SHORTEST_COPY:
            if not length and left > 10:  # noqa: PLR2004  # RFC 1951, 3.2.7: 18 is 11 to 138 zeros
                take = min(left, 138)
                yield 18, Bits(take - 11, 7)
            elif not length:
                take = left
                yield 17, Bits(take - 3, 3)
            else:
                take = min(left, 6)
                yield 16, Bits(take - 3, 2)
            left -= take
        for _ in range(left):
            yield length, NO_BITS
        at = end
