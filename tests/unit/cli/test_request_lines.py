"""Files of requests."""

from __future__ import annotations

import uuid

from processors.errors import RequestRefused
from schemas.events import RenderRequested
from streams.request_lines import read_lines


def test_lines_keep_their_numbers_over_blank_and_bad_ones() -> None:
    lines = list(read_lines([b'{"content": "a"}\n', b"\n", b"  \r\n", b"rubbish\n", b'{"content": "b"}\r\n']))
    assert [(number, isinstance(read, RenderRequested)) for number, read in lines] == [(1, True), (4, False), (5, True)]


def test_a_request_without_id_gets_a_random_uuid_of_its_own() -> None:
    first, second = (read for _, read in read_lines([b'{"content": "a"}', b'{"content": "a"}']))
    assert isinstance(first, RenderRequested)
    assert isinstance(second, RenderRequested)
    assert uuid.UUID(first.request_id).version == 4
    assert first.request_id != second.request_id


def test_a_byte_order_mark_before_the_first_line_is_no_part_of_it() -> None:
    ((_, read),) = read_lines([b'\xef\xbb\xbf{"content": "a"}'])
    assert isinstance(read, RenderRequested)
    assert read.content == "a"


def test_a_line_that_is_not_utf_8_is_refused_with_the_place_of_the_byte() -> None:
    ((_, read),) = read_lines([b'{"content": "caf\xe9"}'])
    assert isinstance(read, RequestRefused)
    assert read.code == "invalid_request"
    assert read.message == "byte 17 of the line is not UTF-8; save the file as UTF-8"
