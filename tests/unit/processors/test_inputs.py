"""Inputs that broke other projects: each reads back to its own bytes, or fails as it says."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zxingcpp

from processors.errors import RenderError
from processors.jsonl import parse_request
from processors.render import render
from processors.spec import validate
from tests.unit.processors.pixels import read_png

LINES = (Path(__file__).parent / "inputs" / "contents.jsonl").read_text(encoding="utf-8").splitlines()
CASES: list[tuple[str, dict[str, Any]]] = [(line, json.loads(line)) for line in LINES]


def read_back(artifact: bytes) -> bytes:
    """The bytes of the symbol in a PNG file, by a search of the whole image over a white page."""
    pixels = read_png(artifact)
    grey = np.where(pixels[:, :, 3] == 0, 255, pixels[:, :, 0]).astype(np.uint8)
    found = zxingcpp.read_barcode(grey, formats=zxingcpp.BarcodeFormats((zxingcpp.BarcodeFormat.QRCode,)))
    assert found is not None
    return bytes(found.bytes)


def rendered(line: str) -> bytes:
    return render(validate(parse_request(line, request_id="r", requested_at=0))).artifact


@pytest.mark.parametrize(
    "line", [line for line, case in CASES if "expect" not in case], ids=lambda line: json.loads(line)["note"]
)
def test_an_input_reads_back_to_exactly_its_bytes(line: str) -> None:
    content = parse_request(line, request_id="r", requested_at=0).content

    assert read_back(rendered(line)) == (content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(
    ("line", "code"),
    [(line, case["expect"]) for line, case in CASES if "expect" in case],
    ids=lambda value: value if value.isidentifier() else "",
)
def test_an_input_that_must_fail_fails_with_its_code(line: str, code: str) -> None:
    with pytest.raises(RenderError) as failure:
        rendered(line)

    assert failure.value.code == code


def test_the_inputs_are_all_there() -> None:
    assert len(CASES) == 53
    assert sum("expect" in case for _, case in CASES) == 8


def test_sixty_random_bytes_read_back_at_level_q() -> None:
    content = random.Random(60).randbytes(60)
    line = json.dumps({"content_base64": b64encode(content).decode(), "error_correction": "q"})

    assert read_back(rendered(line)) == content


def test_bytes_that_are_all_digits_take_the_place_of_digits() -> None:
    assert rendered('{"content_base64": "MDEyMw=="}') == rendered('{"content": "0123"}')
