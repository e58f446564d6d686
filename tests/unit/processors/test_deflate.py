from __future__ import annotations

import heapq
import zlib
from collections.abc import Mapping

import cramjam
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.images.bit_joining import Codes, codes_of, join_codes
from processors.images.deflate import (
    Bits,
    BlockCode,
    Copy,
    canonical_codes,
    code_lengths,
    copies,
    distance_symbol,
    length_symbol,
)

COUNTS = st.dictionaries(st.integers(0, 285), st.integers(1, 10**9), min_size=2, max_size=80)


def huffman_cost(counts: Mapping[int, int]) -> int:
    """Bits of a best prefix code without a limit: the sum of all merged weights (Huffman 1952)."""
    heap, total = list(counts.values()), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        merged = heapq.heappop(heap) + heapq.heappop(heap)
        total += merged
        heapq.heappush(heap, merged)
    return total


@given(COUNTS)
def test_the_code_is_complete_and_within_its_limit(counts: dict[int, int]) -> None:
    lengths = code_lengths(counts, 15)

    assert set(lengths) == set(counts)
    assert sum(2 ** (15 - length) for length in lengths.values()) == 2**15
    assert max(lengths.values()) <= 15


@given(COUNTS)
def test_no_prefix_code_is_shorter(counts: dict[int, int]) -> None:
    lengths = code_lengths(counts, 60)

    assert sum(counts[symbol] * length for symbol, length in lengths.items()) == huffman_cost(counts)


def test_a_limit_makes_the_best_code_that_keeps_it() -> None:
    assert code_lengths({1: 1, 2: 1, 3: 2, 4: 4, 5: 8}, 7) == {1: 4, 2: 4, 3: 3, 4: 2, 5: 1}
    assert code_lengths({1: 1, 2: 1, 3: 2, 4: 4, 5: 8}, 3) == {1: 3, 2: 3, 3: 3, 4: 3, 5: 1}


def test_codes_are_those_of_the_example_in_rfc_1951() -> None:
    lengths = dict(zip(b"ABCDEFGH", (3, 3, 3, 3, 3, 2, 4, 4), strict=True))  # section 3.2.2
    codes = canonical_codes(lengths)
    sent = {chr(symbol): f"{value:0{length}b}"[::-1] for symbol, (value, length) in codes.items()}

    assert sent == {"A": "010", "B": "011", "C": "100", "D": "101", "E": "110", "F": "00", "G": "1110", "H": "1111"}


@pytest.mark.parametrize(
    ("length", "symbol", "extra"),
    [
        (3, 257, (0, 0)), (10, 264, (0, 0)), (11, 265, (0, 1)), (12, 265, (1, 1)), (18, 268, (1, 1)), (19, 269, (0, 2)),
        (34, 272, (3, 2)), (35, 273, (0, 3)), (130, 280, (15, 4)), (131, 281, (0, 5)), (227, 284, (0, 5)),
        (257, 284, (30, 5)), (258, 285, (0, 0)),
    ],
)
def test_lengths_have_the_symbols_of_rfc_1951(length: int, symbol: int, extra: tuple[int, int]) -> None:
    assert length_symbol(length) == (symbol, Bits(*extra))


@pytest.mark.parametrize(
    ("distance", "symbol", "extra"),
    [(1, 0, (0, 0)), (4, 3, (0, 0)), (5, 4, (0, 1)), (6, 4, (1, 1)), (7, 5, (0, 1)), (9, 6, (0, 2)), (192, 14, (63, 6)), (193, 15, (0, 6)), (32768, 29, (8191, 13))],
)
def test_distances_have_the_symbols_of_rfc_1951(distance: int, symbol: int, extra: tuple[int, int]) -> None:
    assert distance_symbol(distance) == (symbol, Bits(*extra))


@pytest.mark.parametrize("length", [3, 257, 258, 259, 260, 261, 515, 516, 517, 518, 5_000])
def test_copies_add_up_and_none_is_too_short(length: int) -> None:
    made = copies(length, 7)

    assert sum(copy.length for copy in made) == length
    assert all(3 <= copy.length <= 258 and copy.distance == 7 for copy in made)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 64)), min_size=1, max_size=60))
def test_codes_are_joined_without_a_gap(given_codes: list[tuple[int, int]]) -> None:
    codes = [(value & ((1 << length) - 1), length) for value, length in given_codes]
    joined = at = 0
    for value, length in codes:
        joined |= value << at
        at += length
    values, lengths = zip(*codes, strict=True)

    assert join_codes(Codes(np.array(values, np.uint64), np.array(lengths, np.uint64))) == joined.to_bytes((at + 7) // 8, "little")


@given(st.integers(0, 2**300 - 1), st.integers(1, 300))
def test_long_bits_are_cut_into_words(value: int, length: int) -> None:
    value &= (1 << length) - 1

    assert join_codes(codes_of(value, length)) == value.to_bytes((length + 7) // 8, "little")


def test_bits_are_repeated() -> None:
    assert Bits(0b01, 2).times(3) == Bits(0b010101, 6)
    assert Bits(0b01, 2).times(0) == Bits(0, 3).times(0) == Bits(0, 0)
    assert Bits(0b1, 1).then(Bits(0b01, 2)) == Bits(0b011, 3)


def test_a_block_is_read_by_two_inflaters() -> None:
    tokens = [*b"abcabd", Copy(258, 5), Copy(3, 1), ord("a"), Copy(130, 1), *b"cb"]
    code = BlockCode({ord("a"): 9, ord("b"): 4, ord("c"): 1, ord("d"): 7, 257: 1, 280: 2, 285: 1}, far=5)
    bits = code.header.then(code.tokens(tokens)).then(code.end)
    block = bits.value.to_bytes((bits.length + 7) // 8, "little")
    said = bytearray()
    for token in tokens:
        if isinstance(token, Copy):
            for _ in range(token.length):
                said.append(said[-token.distance])
        else:
            said.append(token)

    assert zlib.decompress(block, wbits=-15) == bytes(said)
    assert bytes(cramjam.deflate.decompress(block)) == bytes(said)
