from __future__ import annotations

import random

import numpy as np
import pytest

from processors.symbol.capacity import LEVELS, VERSIONS, blocks_of
from processors.symbol.error_correction import contributions, generator


def product(one: int, other: int) -> int:
    """In GF(256), by the schoolbook."""
    total = 0
    for bit in range(8):
        total ^= (one << bit) * (other >> bit & 1)
    for bit in range(14, 7, -1):
        total ^= (0x11D << bit - 8) * (total >> bit & 1)
    return total


def codewords_of(data: bytes, ec_each: int) -> bytes:
    """By the table of the product."""
    table = contributions(ec_each)
    words = [table[256 * (len(data) - 1 - at) + value] for at, value in enumerate(data)]
    codewords: bytes = np.bitwise_xor.reduce(words, axis=0).tobytes()
    return codewords[:ec_each]


def test_the_example_of_the_standard_has_its_codewords() -> None:
    # ISO/IEC 18004:2015, annex I.2.
    data = bytes.fromhex("10200c566180ec11ec11ec11ec11ec11")

    assert codewords_of(data, 10).hex() == "a524d4c1ed36c7872c55"


def test_the_generator_polynomial_is_that_of_annex_a() -> None:
    exponents = [0]
    power = {1: 0}
    for exponent in range(1, 255):
        exponents.append(exponent)
        power[product(next(value for value, of in power.items() if of == exponent - 1), 2)] = exponent

    assert [power[int(coefficient)] for coefficient in generator(7)] == [87, 229, 146, 149, 238, 102, 21]


@pytest.mark.parametrize("ec_each", sorted({blocks_of(version, level).ec_each for version in VERSIONS for level in LEVELS}))
def test_every_block_is_zero_at_every_root_of_its_generator(ec_each: int) -> None:
    longest = len(contributions(ec_each)) // 256
    data = random.Random(ec_each).randbytes(longest)
    root = 1
    for _ in range(ec_each):
        value = 0
        for codeword in data + codewords_of(data, ec_each):
            value = product(value, root) ^ codeword
        assert value == 0
        root = product(root, 2)


def test_tables_are_no_longer_than_the_longest_block_needs() -> None:
    # Version 25-L has 26 for up to 107, 27-L 30 for up to 123; version 1 alone has 7, 13 and 17.
    assert [len(contributions(ec_each)) // 256 for ec_each in (7, 13, 17, 26, 30)] == [19, 13, 9, 108, 123]
