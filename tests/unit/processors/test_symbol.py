from __future__ import annotations

import random

import pytest
import segno

from processors.errors import RenderRefused
from processors.images.layout import Layout
from processors.symbol import CAPACITY, make_symbol, mode_of
from processors.verify import verify
from tests.unit.processors.conftest import MakeSpec


@pytest.mark.parametrize(
    ("content", "mode"),
    [
        (b"0123", "numeric"),
        (b"-", "alphanumeric"),
        (b"HTTPS://EXAMPLE.COM/A1", "alphanumeric"),
        (b"$%*+-./: ", "alphanumeric"),
        (b"https://example.com", "byte"),
        (b"\x00", "byte"),
        ("\u0660\u0661".encode(), "byte"),
        ("²".encode(), "byte"),
        ("あ".encode(), "byte"),
    ],
)
def test_the_densest_mode_that_takes_every_character_is_used(content: bytes, mode: str) -> None:
    assert mode_of(content) == mode


@pytest.mark.parametrize(
    ("content", "level", "says"),
    [
        ("9" * 8_000, "l", "the content has 8,000 digits; level l holds at most 7,089 digits; shorten it"),
        ("a" * 3_000, "m", "level m holds at most 2,331 bytes; shorten it"),
        ("a" * 2_332, "m", "level m holds at most 2,331 bytes; ask for level l 2,953, or shorten it"),
        ("a" * 1_300, "h", "at most 1,273 bytes; ask for level l 2,953 or m 2,331 or q 1,663, or shorten it"),
        ("A" * 4_297, "l", "level l holds at most 4,296 alphanumeric characters"),
        ("ä" * 1_477, "l", "the content has 2,954 bytes; level l holds at most 2,953 bytes"),
    ],
)
def test_content_that_no_symbol_holds_is_refused_with_the_limit(
    spec_of: MakeSpec, content: str, level: str, says: str
) -> None:
    with pytest.raises(RenderRefused) as refusal:
        make_symbol(spec_of(content, error_correction=level))

    assert refusal.value.code == "content_too_long"
    assert says in refusal.value.message


def bits_of(mode: str, characters: int) -> int:
    """Mode indicator, count indicator and data in version 40 (ISO/IEC 18004:2015, 7.4)."""
    if mode == "numeric":
        return 4 + 14 + characters // 3 * 10 + (0, 4, 7)[characters % 3]
    if mode == "alphanumeric":
        return 4 + 13 + characters // 2 * 11 + characters % 2 * 6
    return 4 + 16 + characters * 8


@pytest.mark.parametrize("mode", CAPACITY)
@pytest.mark.parametrize("level", "lmqh")
def test_the_limits_are_those_of_the_encoder(mode: str, level: str) -> None:
    # ISO/IEC 18004:2015, table 7: data bits of version 40.
    available = {"l": 23_648, "m": 18_672, "q": 13_328, "h": 10_208}[level]
    limit = CAPACITY[mode][level]

    assert bits_of(mode, limit) <= available < bits_of(mode, limit + 1)


def test_boost_raises_the_level_only_where_asked(spec_of: MakeSpec) -> None:
    boosted, plain = (make_symbol(spec_of("0123", error_correction="l", boost=boost)) for boost in (True, False))

    assert (boosted.version, boosted.error_correction) == (1, "h")
    assert (plain.version, plain.error_correction) == (1, "l")


def test_a_short_content_is_never_a_micro_symbol(spec_of: MakeSpec) -> None:
    assert make_symbol(spec_of("1")).side == 21


def test_the_symbol_is_segnos(spec_of: MakeSpec) -> None:
    made = segno.make("Grüße", error="q", mode="byte", encoding="utf-8", micro=False, boost_error=False)
    ours = make_symbol(spec_of("Grüße", error_correction="q", boost=False))

    assert [bytes(row) for row in made.matrix] == [row.tobytes() for row in ours.modules]
    assert (made.version, made.error, made.mask) == (ours.version, ours.error_correction.upper(), ours.mask)


def test_random_bytes_of_every_length_read_back(spec_of: MakeSpec) -> None:
    bytes_of = random.Random(18_004)
    for length in (1, 2, 3, 17, 60, 120):
        spec = spec_of(bytes_of.randbytes(length), error_correction="q")
        assert verify(spec, make_symbol(spec), Layout(1, 1, 0, 0)).decoder.startswith("zxing-cpp/")
