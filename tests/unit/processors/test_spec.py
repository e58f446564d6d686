from __future__ import annotations

import pytest

from processors.errors import RequestRefused
from processors.spec import RenderSpec, validate
from tests.unit.processors.conftest import MakeRequest


def test_a_request_with_defaults_becomes_the_profiles_spec(request_of: MakeRequest) -> None:
    assert validate(request_of(content="Grüße")) == RenderSpec(
        content=b"Gr\xc3\xbc\xc3\x9fe",
        format="png",
        error_correction="m",
        boost=True,
        scale=8,
        size=None,
        margin=4,
        dark="#000000",
        light="#ffffff",
        profile="qr-1",
    )


def test_size_takes_the_place_of_the_default_scale(request_of: MakeRequest) -> None:
    spec = validate(request_of(size=200.0))

    assert (spec.scale, spec.size) == (None, 200)


def test_svg_takes_a_scale_that_is_not_whole(request_of: MakeRequest) -> None:
    assert validate(request_of(format="SVG", scale=1.5)).scale == 1.5


@pytest.mark.parametrize(
    ("fields", "code", "says"),
    [
        ({"content": ""}, "content_empty", "at least one byte"),
        ({"content": b""}, "content_empty", "at least one byte"),
        ({"content": "ab\ud800"}, "invalid_content", "unpaired surrogate at character 3"),
        ({"format": "bmp3"}, "invalid_option", "format must be one of png, svg, pdf, eps, txt, not 'bmp3'"),
        ({"format": "png "}, "invalid_option", "format must be"),
        ({"error_correction": "x"}, "invalid_option", "error_correction must be one of l, m, q, h"),
        ({"profile": "qr-99"}, "invalid_option", "profile must be one of qr-1, qr-0"),
        ({"profile": "QR-0"}, "invalid_option", "profile must be one of qr-1, qr-0"),
        ({"deliver": "by mail"}, "invalid_option", "deliver must be one of inline, reference"),
        ({"scale": 8.0, "size": 200.0}, "invalid_option", "scale and size exclude each other"),
        ({"scale": 1.5}, "invalid_option", "scale must be a whole number of pixels for png, not 1.5"),
        ({"scale": -1.0}, "invalid_option", "scale must be a number of pixels for png from 1"),
        ({"scale": 0.0}, "invalid_option", "scale must be"),
        ({"scale": 0.0, "format": "svg"}, "invalid_option", "scale must be a number of pixels from 0.01"),
        ({"scale": float("nan")}, "invalid_option", "not nan"),
        ({"scale": float("inf")}, "invalid_option", "not inf"),
        ({"scale": 1e300}, "invalid_option", "to 1,000,000"),
        ({"size": 0.0}, "invalid_option", "size must be"),
        ({"size": 200.5}, "invalid_option", "size must be a whole number of pixels, not 200.5"),
        ({"size": float("-inf")}, "invalid_option", "size must be"),
        ({"margin": -1.0}, "invalid_option", "margin must be a number of modules from 0"),
        ({"margin": 1.5}, "invalid_option", "margin must be a whole number of modules"),
        ({"dark": "#12345g"}, "invalid_option", "dark must be #rgb or #rrggbb"),
        ({"dark": "black"}, "invalid_option", "dark must be"),
        ({"dark": ""}, "invalid_option", "dark must be"),
        ({"light": "#ffff"}, "invalid_option", "light must be"),
        ({"light": "#fffffff"}, "invalid_option", "light must be"),
        ({"light": "#fff\n"}, "invalid_option", "light must be"),
        ({"light": "#\u0661\u0661\u0661"}, "invalid_option", "light must be"),
        ({"light": "\ud800"}, "invalid_option", "light must be"),
        ({"request_id": ""}, "invalid_option", "request_id is empty"),
        ({"request_id": "x" * 256}, "invalid_option", "request_id has 256 characters"),
        ({"request_id": "a\x00b"}, "invalid_option", "request_id has a NUL"),
        ({"request_id": "a\udfff"}, "invalid_option", "request_id has an unpaired surrogate"),
        ({"tenant": ""}, "invalid_option", "tenant is empty"),
        ({"tenant": "a\x00b"}, "invalid_option", "tenant has a NUL"),
        ({"tenant": "x" * 256}, "invalid_option", "tenant has 256 characters"),
        ({"idempotency_key": "x" * 256}, "invalid_option", "idempotency_key has 256 characters"),
    ],
)
def test_a_request_without_canonical_form_is_refused_by_name(
    request_of: MakeRequest, fields: dict[str, object], code: str, says: str
) -> None:
    with pytest.raises(RequestRefused) as refusal:
        validate(request_of(**fields))

    assert refusal.value.code == code
    assert says in refusal.value.message
    assert refusal.value.message.isascii()
    assert not refusal.value.row.has_canonical_form


@pytest.mark.parametrize(
    "fields",
    [
        {"request_id": "ü" * 255},
        {"tenant": "t" * 255},
        {"idempotency_key": "a\x00b"},
        {"idempotency_key": "👨‍👩‍👧" * 51},
        {"margin": 0.0},
        {"scale": 1_000_000.0},
        {"size": 1.0},
        {"dark": None, "light": None},
        {"deliver": "reference"},
        {"deadline": -1},
    ],
)
def test_the_edge_of_what_is_allowed_is_taken(request_of: MakeRequest, fields: dict[str, object]) -> None:
    assert validate(request_of(**fields)).content == b"https://example.com"
