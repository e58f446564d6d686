from __future__ import annotations

import pytest

from processors.symbol.bit_stream import data_codewords


def test_the_example_of_the_standard_has_its_codewords() -> None:
    # ISO/IEC 18004:2015, annex I.2: 01234567 in version 1-M.
    assert data_codewords("numeric", b"01234567", 1, 16) == bytes.fromhex("10200c566180ec11ec11ec11ec11ec11")


def test_two_alphanumeric_characters_take_eleven_bits() -> None:
    # ISO/IEC 18004:2015, 7.4.4: AC-42 is 00111001110 11100111001 000010.
    bits = "0010" + "000000101" + "00111001110" + "11100111001" + "000010" + "0000"
    assert data_codewords("alphanumeric", b"AC-42", 1, 19)[:6] == int(bits.ljust(48, "0"), 2).to_bytes(6, "big")


def test_a_stream_that_ends_on_a_codeword_gets_one_of_zeros_before_the_pad_codewords_as_segnos_does() -> None:
    assert data_codewords("byte", b"a", 1, 9) == bytes.fromhex("401610") + b"\x00" + bytes.fromhex("ec11ec11ec")


@pytest.mark.parametrize(
    ("content", "codewords"),
    [
        (b"a" * 17, "411" + "61" * 17 + "0"),
        (b"a" * 16, "410" + "61" * 16 + "0" + "00"),
        (b"a" * 15, "40f" + "61" * 15 + "0" + "00" + "ec"),
    ],
)
def test_a_full_symbol_has_no_codeword_of_zeros(content: bytes, codewords: str) -> None:
    assert data_codewords("byte", content, 1, 19).hex() == codewords


def test_a_terminator_is_cut_where_the_symbol_ends() -> None:
    # 41 digits: 4 + 10 + 137 bits, one less than version 1-L has.
    codewords = data_codewords("numeric", b"1" * 41, 1, 19)

    assert len(codewords) == 19
    assert f"{int.from_bytes(codewords, 'big'):0152b}" == "0001" + f"{41:010b}" + f"{111:010b}" * 13 + f"{11:07b}" + "0"


@pytest.mark.parametrize(("version", "count_bits"), [(9, 8), (10, 16), (26, 16), (27, 16), (40, 16)])
def test_the_character_count_grows_with_the_version(version: int, count_bits: int) -> None:
    stream = int.from_bytes(data_codewords("byte", b"\xff\xff", version, 20), "big")

    assert f"{stream:0160b}".startswith("0100" + f"{2:0{count_bits}b}" + "1" * 16)
