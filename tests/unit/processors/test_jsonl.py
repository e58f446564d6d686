from __future__ import annotations

import time

import pytest

from processors.errors import RequestRefused
from processors.jsonl import parse_request
from processors.spec import validate
from schemas.events import RenderRequested


def parsed(line: str) -> RenderRequested:
    return parse_request(line, request_id="given", requested_at=1_700_000_000_000)


def test_what_a_line_leaves_out_takes_the_defaults() -> None:
    assert parsed('{"content": "x"}') == RenderRequested(
        request_id="given", content="x", requested_at=1_700_000_000_000
    )


def test_a_line_can_say_everything() -> None:
    line = """{"request_id": "r", "tenant": "t", "idempotency_key": "k", "content": "x", "format": "SVG",
        "error_correction": "q", "boost": false, "scale": null, "size": 200, "margin": 2, "dark": null,
        "light": "#FFF", "profile": "qr-1", "deliver": "reference", "deadline": "2030-01-01T00:00:00.5+01:00",
        "requested_at": 12, "note": "why", "expect": "nothing"}"""

    assert parsed(line) == RenderRequested(
        request_id="r",
        tenant="t",
        idempotency_key="k",
        content="x",
        format="SVG",
        error_correction="q",
        boost=False,
        scale=None,
        size=200.0,
        margin=2.0,
        dark=None,
        light="#FFF",
        profile="qr-1",
        deliver="reference",
        deadline=1_893_452_400_500,
        requested_at=12,
    )


def test_bytes_come_as_base64() -> None:
    assert parsed('{"content_base64": "AP+A"}').content == b"\x00\xff\x80"


def test_a_payload_becomes_the_text_of_its_type() -> None:
    line = r'{"payload": {"type": "wifi", "ssid": "a;b", "password": "secret12"}, "format": "svg"}'
    assert parsed(line) == parsed(r'{"content": "WIFI:T:WPA;S:a\\;b;P:secret12;;", "format": "svg"}')
    assert parsed('{"payload": {"type": "bytes", "base64": "AP+A"}}').content == b"\x00\xff\x80"


def test_an_unpaired_surrogate_passes_and_is_refused_by_the_validity_check() -> None:
    request = parsed(r'{"content": "a\ud800"}')

    assert request.content == "a\ud800"
    with pytest.raises(RequestRefused) as refusal:
        validate(request)
    assert refusal.value.code == "invalid_content"


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("", "invalid_request", "not JSON"),
        ("{", "invalid_request", "not JSON"),
        ('{"content": "x"} {}', "invalid_request", "not JSON"),
        ('{"content": "x", "scale": NaN}', "invalid_request", "NaN is not a JSON number"),
        ('{"content": "x", "scale": -Infinity}', "invalid_request", "-Infinity is not a JSON number"),
        ("[" * 100_000, "invalid_request", "not JSON"),
        ('["content"]', "invalid_request", "not an object"),
        ('"content"', "invalid_request", "not an object"),
        ('{"content": "x", "colour": "#fff"}', "invalid_request", "no member 'colour'"),
        ('{"content": "x", "Format": "png"}', "invalid_request", "no member 'Format'"),
        ('{"content": "x", "content": "y"}', "invalid_request", "'content' is there twice"),
        ('{"content": "x", "content_base64": "eA=="}', "invalid_request", "exclude each other"),
        ('{"content": "x", "payload": {"type": "text", "text": "x"}}', "invalid_request", "content and payload exclude each other"),
        ('{"payload": {}, "content_base64": "eA=="}', "invalid_request", "content_base64 and payload exclude each other"),
        ('{"payload": {"type": "wifi", "ssid": "x", "pasword": "secret"}}', "invalid_payload", "did you mean password?"),
        ('{"payload": {"type": "wifi", "ssid": "x", "password": "secret"}}', "invalid_payload", "password: must have 8 to 63"),
        ('{"payload": {"type": "text", "text": "x", "text": "y"}}', "invalid_request", "'text' is there twice"),
        ('{"payload": "wifi"}', "invalid_payload", "payload must be an object"),
        ("{}", "content_empty", "neither content nor content_base64"),
        ('{"content": 123}', "invalid_option", "content must be a string, not this number"),
        ('{"content": null}', "invalid_option", "content must be a string, not null"),
        ('{"content": ["secret"]}', "invalid_option", "content must be a string, not an array"),
        ('{"content_base64": {}}', "invalid_option", "content_base64 must be a string, not an object"),
        ('{"content_base64": "a"}', "invalid_content", "not padded base64"),
        ('{"content_base64": "eA"}', "invalid_content", "not padded base64"),
        ('{"content_base64": "e A=="}', "invalid_content", "not padded base64"),
        ('{"content_base64": "_w=="}', "invalid_content", "not padded base64"),
        ('{"content_base64": "ä"}', "invalid_content", "not padded base64"),
        ('{"content": "x", "request_id": 7}', "invalid_option", "request_id must be a string"),
        ('{"content": "x", "tenant": null}', "invalid_option", "tenant must be a string, not null"),
        ('{"content": "x", "format": null}', "invalid_option", "format must be a string, not null"),
        ('{"content": "x", "error_correction": true}', "invalid_option", "error_correction must be a string"),
        ('{"content": "x", "boost": "yes"}', "invalid_option", "boost must be true or false"),
        ('{"content": "x", "boost": 1}', "invalid_option", "boost must be true or false"),
        ('{"content": "x", "boost": null}', "invalid_option", "boost must be true or false"),
        ('{"content": "x", "scale": "8"}', "invalid_option", "scale must be a number"),
        ('{"content": "x", "scale": true}', "invalid_option", "scale must be a number"),
        ('{"content": "x", "margin": null}', "invalid_option", "margin must be a number, not null"),
        ('{"content": "x", "size": 1' + "0" * 400 + "}", "invalid_option", "size is larger than a double holds"),
        ('{"content": "x", "size": 1' + "0" * 5_000 + "}", "invalid_request", "not JSON"),
        ('{"content": "x", "dark": 0}', "invalid_option", "dark must be a string"),
        ('{"content": "x", "deadline": "tomorrow"}', "invalid_option", "deadline must be whole milliseconds"),
        ('{"content": "x", "deadline": "2030-01-01T00:00:00"}', "invalid_option", "with its offset"),
        ('{"content": "x", "deadline": 1.5}', "invalid_option", "deadline must be"),
        ('{"content": "x", "deadline": true}', "invalid_option", "deadline must be"),
        ('{"content": "x", "deadline": 1e99}', "invalid_option", "deadline must be"),
        ('{"content": "x", "deadline": 9223372036854775808}', "invalid_option", "deadline must be"),
        ('{"content": "x", "requested_at": null}', "invalid_option", "requested_at must be"),
    ],
)
def test_a_line_that_is_no_request_is_refused_by_name(line: str, code: str, says: str) -> None:
    with pytest.raises(RequestRefused) as refusal:
        parsed(line)

    assert refusal.value.code == code
    assert says in refusal.value.message
    assert "secret" not in refusal.value.message


def test_a_member_that_is_there_twice_is_found_in_one_pass() -> None:
    members = [f'"{number:x}": 1' for number in range(20_000)]

    def seconds(*more: str) -> float:
        started = time.thread_time()
        with pytest.raises(RequestRefused):
            parsed("{" + ", ".join([*members, *more]) + "}")
        return time.thread_time() - started

    # Comparing each name with all others takes more than a hundred times as long as reading them.
    assert seconds(members[-1]) < 10 * seconds()
