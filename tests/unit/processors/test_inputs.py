"""Inputs that broke other projects: each reads back to its own bytes, or fails as it says.

The finished file is read by two decoders that share no code, in a search of the whole image: zxing-cpp and
OpenCV's QRCodeDetector.
"""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import pytest
import zxingcpp
from numpy.typing import NDArray

from processors.errors import RenderError
from processors.jsonl import parse_request
from processors.render import render
from processors.spec import validate
from tests.unit.processors.files import grey_of

LINES = (Path(__file__).parent / "inputs" / "contents.jsonl").read_text(encoding="utf-8").splitlines()
CASES: list[tuple[str, dict[str, Any]]] = [(line, json.loads(line)) for line in LINES]
RANDOM_BYTES = random.Random(60).randbytes(60)
READABLE = [line for line, case in CASES if "expect" not in case]
READABLE.append(json.dumps({
    "content_base64": b64encode(RANDOM_BYTES).decode(), "error_correction": "q", "note": "60 random bytes at level Q"
}))  # fmt: skip

NOTHING: Final[Callable[[bytes], bytes]] = lambda _: b""  # noqa: E731  # a row of the table, as the one below it
LATIN_1: Final[Callable[[bytes], bytes]] = lambda content: content.decode("latin-1").encode()  # noqa: E731

# What OpenCV reads instead of the content, by note. A case that it reads after all fails here, as does a new one.
OPENCV_EXCEPTIONS: Final[dict[str, tuple[Callable[[bytes], bytes], str]]] = {
    "white on dark": (NOTHING, "it looks for dark on light only; the warning `inverted`"),
    "exact size, no margin": (NOTHING, "it finds no symbol that touches the image's edge; the warning `quiet_zone`"),
    "all byte values": (LATIN_1, "it takes bytes that are no UTF-8 for ISO/IEC 8859-1, and gives that text in UTF-8"),
    "60 random bytes at level Q": (LATIN_1, "the same"),
}


def note_of(line: str) -> str:
    return str(json.loads(line)["note"])


def content_of(line: str) -> bytes:
    content = parse_request(line, request_id="r", requested_at=0).content
    return content if isinstance(content, bytes) else content.encode()


@cache
def file_of(line: str, format_: str) -> tuple[bytes, str]:
    """The finished file and its media type."""
    line = json.dumps({**json.loads(line), "format": format_})
    made = render(validate(parse_request(line, request_id="r", requested_at=0)))
    return made.artifact, made.media_type


def read_by_zxing(grey: NDArray[np.uint8]) -> bytes:
    found = zxingcpp.read_barcode(grey, formats=zxingcpp.BarcodeFormats((zxingcpp.BarcodeFormat.QRCode,)))
    assert found is not None
    return bytes(found.bytes)


def read_by_opencv(grey: NDArray[np.uint8]) -> bytes:
    """Nothing where it finds nothing."""
    return bytes(cv2.QRCodeDetector().detectAndDecodeBytes(grey)[0])


each_input = pytest.mark.parametrize("line", READABLE, ids=note_of)
each_format = pytest.mark.parametrize("format_", ["png", "svg"])


@each_format
@each_input
def test_an_input_reads_back_to_exactly_its_bytes(line: str, format_: str) -> None:
    assert read_by_zxing(grey_of(*file_of(line, format_))) == content_of(line)


@each_format
@each_input
def test_a_second_decoder_reads_the_same_but_for_the_listed_exceptions(line: str, format_: str) -> None:
    content = content_of(line)
    expected, _ = OPENCV_EXCEPTIONS.get(note_of(line), (bytes, ""))

    assert read_by_opencv(grey_of(*file_of(line, format_))) == expected(content)


def test_an_exception_is_a_reading_that_differs_of_an_input_that_is_there() -> None:
    for note, (expected, reason) in OPENCV_EXCEPTIONS.items():
        (line,) = (line for line in READABLE if note_of(line) == note)
        assert expected(content_of(line)) != content_of(line), reason


@pytest.mark.parametrize(
    ("line", "code"),
    [(line, case["expect"]) for line, case in CASES if "expect" in case],
    ids=lambda value: value if value.isidentifier() else "",
)
def test_an_input_that_must_fail_fails_with_its_code(line: str, code: str) -> None:
    with pytest.raises(RenderError) as failure:
        file_of(line, json.loads(line).get("format", "png"))

    assert failure.value.code == code


@pytest.mark.parametrize(
    ("content", "level", "says"),
    [
        ("a" * 8000, "l", "the content has 8,000 bytes; level l holds at most 2,953 bytes; shorten it"),
        ("a" * 8000, "m", "the content has 8,000 bytes; level m holds at most 2,331 bytes; shorten it"),
        ("A" * 8000, "q", "the content has 8,000 alphanumeric characters; level q holds at most 2,420 alphanumeric characters; shorten it"),
        ("7" * 8000, "h", "the content has 8,000 digits; level h holds at most 3,057 digits; shorten it"),
        ("\u00e4" * 8000, "m", "the content has 16,000 bytes; level m holds at most 2,331 bytes; shorten it"),
    ],
)
def test_eight_thousand_characters_are_refused_with_the_limit_of_their_level(content: str, level: str, says: str) -> None:
    with pytest.raises(RenderError) as failure:
        file_of(json.dumps({"content": content, "error_correction": level}), "png")

    assert (failure.value.code, failure.value.message) == ("content_too_long", says)


def test_the_inputs_are_all_there() -> None:
    assert len(CASES) == 53
    assert sum("expect" in case for _, case in CASES) == 8
    contents = {case.get("content") for _, case in CASES} | {content_of(line) for line in READABLE}
    assert contents >= {
        "A\u00e4", "\u00df\u00e4", "\u5e05", "\u5169\u500b\u9ec3\u9e1d\u9cf4\u7fe0\u67f3", "TRANS202404110011\u770b\u770b\u770b16",
        "Bl\u00fcte", b"hello\0world", "0123", "\u65e5\u672c\u00a5", "\u203e\u3042", "\u00b2", "\u00a5", RANDOM_BYTES,
    }  # fmt: skip
    assert {len(text) for text in contents if isinstance(text, str)} >= {4296, 7089}


def test_bytes_that_are_all_digits_take_the_place_of_digits() -> None:
    assert file_of('{"content_base64": "MDEyMw=="}', "png") == file_of('{"content": "0123"}', "png")
