"""Texts whose bytes some readers take for another character set, and what the decoders make of them.

ZBAR was read off ZBar 0.23.92 with its defaults, by hand: it is no dependency of the tests.
"""

from __future__ import annotations

import numpy as np
import pytest
import zxingcpp

from processors.symbol import make_symbol
from processors.verify.charset import other_readings
from tests.unit.processors.conftest import MakeSpec

ALL = ("big5", "shift_jis", "iso8859-1")
SHIFT_JIS = ("shift_jis",)

# Text, what ZBar shows, and what we say of it.
ZBAR: list[tuple[str, str, tuple[str, ...]]] = [
    ("²", "簡", ALL),
    ("¥", "瞼", ALL),
    ("é", "矇", ALL),
    ("ñ", "簽", ALL),
    ("Aä", "A瓣", ALL),
    ("äö", "瓣繹", ALL),
    ("Blüte", "Bl羹te", ALL),
    ("Jürgen Müller", "J羹rgen M羹ller", ALL),
    ("ßä", "ﾃ淌､", SHIFT_JIS),
    ("ああ", "縺ゅ≠", SHIFT_JIS),
    ("Price 5 €", "Price 5 竄ｬ", SHIFT_JIS),
    ("中", "荳ｭ", ("shift_jis", "iso8859-1")),
    ("\u00a0nbsp\u00a0", "\u00c2\u00a0nbsp\u00c2\u00a0", ("iso8859-1",)),
    ("äß", "äß", ()),
    ("The Fool on [123-äöüÖÄÜ-456] the Hill", "The Fool on [123-äöüÖÄÜ-456] the Hill", ()),
    ("帅", "帅", ()),
    ("兩個黃鸝鳴翠柳", "兩個黃鸝鳴翠柳", ()),
    ("TRANS202404110011看看看16", "TRANS202404110011看看看16", ()),
    ("‾あ", "‾あ", ()),
    ("中文", "中文", ()),
    ("Привет", "Привет", ()),
    ("مرحبا بالعالم", "مرحبا بالعالم", ()),
    ("😀", "😀", ()),
]


@pytest.mark.parametrize(("text", "shown", "readings"), ZBAR, ids=[ascii(text) for text, _, _ in ZBAR])
def test_a_text_is_ambiguous_where_zbar_shows_another(text: str, shown: str, readings: tuple[str, ...]) -> None:
    assert other_readings(text.encode()) == readings
    assert bool(readings) == (shown != text)
    # What it shows is the first of them in its order, Big5 before Shift JIS before ISO/IEC 8859-1.
    assert not readings or text.encode().decode(readings[0]) == shown


@pytest.mark.parametrize("text", [text for text, _, _ in ZBAR], ids=ascii)
def test_zxing_guesses_utf_8_for_all_of_them(spec_of: MakeSpec, text: str) -> None:
    image = np.pad(make_symbol(spec_of(text)).modules, 4) - np.uint8(1)
    read = zxingcpp.read_barcode(image, text_mode=zxingcpp.TextMode.Plain)

    assert read is not None
    assert (read.text, bytes(read.bytes)) == (text, text.encode())


@pytest.mark.parametrize("content", [b"https://example.com/~a\\b", bytes(range(128)), b"\xff\x00", b"\xb2", bytes(range(256))])
def test_ascii_is_read_alike_and_bytes_that_are_no_utf_8_are_no_text(content: bytes) -> None:
    assert other_readings(content) == ()
