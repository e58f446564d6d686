from __future__ import annotations

import json
import unicodedata
from hashlib import sha256

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.canonical import canonical_bytes, content_hash, identify, invalid_key
from processors.errors import RequestRefused
from processors.jsonl import parse_request
from processors.profile import DEFAULT_PROFILE, PROFILES
from processors.spec import validate
from schemas.definitions import current
from schemas.events import RenderRequested
from tests.unit.processors.conftest import HashOf, MakeRequest

# The frozen table: change a default and every hash in the world changes. Make a new profile instead.
FROZEN_DEFAULTS = {
    "qr-1": "ec0bdfbd0eb8ea2fff5cd24c2c88f4f5560b479508841878877bc503a5d50cbb",
    "qr-0": "4efe2d319e1350a4050ce8a30931f8acbf771f7f4f437a891a9d92be5c2d0fc2",
}

OTHER_VALUES: dict[str, list[object]] = {
    "request_id": ["r-2"],
    "tenant": ["shop-a"],
    "idempotency_key": ["key"],
    "content": ["https://example.com ", b"\xff", "0"],
    "format": ["svg", "pdf", "eps", "txt"],
    "error_correction": ["l", "q", "h"],
    "boost": [False],
    "scale": [1.0, 9.0],
    "size": [200.0, 201.0],
    "margin": [0.0, 5.0],
    "dark": ["#000001", None],
    "light": ["#fffffe", None],
    "profile": ["qr-0"],
    "deliver": ["reference"],
    "deadline": [4_102_444_800_000],
    "requested_at": [1],
}


def line_hash(line: str) -> str:
    return content_hash(validate(parse_request(line, request_id="r", requested_at=0)))


BASE = '{"content": "Grüße 8/8", "format": "png", "scale": 8}'


@pytest.mark.parametrize(
    "line",
    [
        ' {\t"content" :"Grüße 8/8"  ,"format":"png","scale":8 } ',
        '{"scale": 8, "format": "png", "content": "Grüße 8/8"}',
        r'{"content": "\u0047r\u00fc\u00dfe 8\/8", "format": "png", "scale": 8}',
        '{"content": "Grüße 8/8", "format": "png", "scale": 8.0}',
        '{"content": "Grüße 8/8", "format": "png", "scale": 0.8e1}',
        '{"content_base64": "R3LDvMOfZSA4Lzg=", "format": "png", "scale": 8}',
        '{"content": "Grüße 8/8", "format": "PNG", "scale": 8, "error_correction": "M"}',
        '{"content": "Grüße 8/8", "dark": "#000", "light": "#FFF"}',
        '{"content": "Grüße 8/8", "dark": "#000000", "light": "#fFfFfF"}',
        '{"content": "Grüße 8/8"}',
        '{"content": "Grüße 8/8", "scale": null, "size": null, "margin": 4, "boost": true, "profile": "qr-1"}',
    ],
)
def test_the_same_request_in_other_words_has_the_same_hash(line: str) -> None:
    assert line_hash(line) == line_hash(BASE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"content": "a b"}', '{"content": "a  b"}'),
        ('{"content": "a"}', '{"content": "a "}'),
        ('{"content": "a\\n"}', '{"content": "a\\r\\n"}'),
        ('{"content": "a"}', '{"content": "A"}'),
        ('{"content": "0123"}', '{"content": "123"}'),
        ('{"content": "a"}', '{"content": "\\ufeffa"}'),
        ('{"content": "a", "scale": 8}', '{"content": "a", "size": 232}'),
        ('{"content": "a", "dark": null}', '{"content": "a", "dark": "#000"}'),
        ('{"content": "wA=="}', '{"content_base64": "wA=="}'),
    ],
)
def test_what_differs_in_the_output_differs_in_the_hash(one: str, other: str) -> None:
    assert line_hash(one) != line_hash(other)


def test_content_is_not_normalised(hash_of: HashOf) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Blüte") for form in ("NFC", "NFD"))

    assert hash_of(content=composed) != hash_of(content=decomposed)


def undeclared(tree: dict[str, object]) -> list[str]:
    """Fields of a record schema that do not say whether they change the output."""
    fields = tree["fields"]
    assert isinstance(fields, list)
    return [field["name"] for field in fields if not isinstance(field.get("output_affecting"), bool)]


def test_each_schema_field_is_declared_output_affecting_or_not() -> None:
    assert undeclared(current(RenderRequested).tree) == []


def test_a_field_without_the_declaration_is_found() -> None:
    tree: dict[str, object] = {"fields": [*current(RenderRequested).tree["fields"], {"name": "logo", "type": "string"}]}

    assert undeclared(tree) == ["logo"]


def test_the_canonical_form_has_exactly_the_output_affecting_fields(request_of: MakeRequest) -> None:
    declared = {f["name"] for f in current(RenderRequested).tree["fields"] if f["output_affecting"]}

    assert set(json.loads(canonical_bytes(validate(request_of())))) == declared
    assert set(json.loads(canonical_bytes(validate(request_of(content=b"\xff"))))) == declared - {"content"} | {
        "content_base64"
    }


@pytest.mark.parametrize("field", [f["name"] for f in current(RenderRequested).tree["fields"]])
def test_a_field_changes_the_hash_exactly_when_declared_so(request_of: MakeRequest, field: str) -> None:
    declared = {f["name"]: f["output_affecting"] for f in current(RenderRequested).tree["fields"]}
    base = identify(request_of())[1]
    hashes = [identify(request_of(**{field: value}))[1] for value in OTHER_VALUES[field]]

    assert [other != base for other in hashes] == [declared[field]] * len(hashes)
    assert len(set(hashes)) == (len(hashes) if declared[field] else 1)


def test_the_current_profile_and_the_one_before_it_are_served(request_of: MakeRequest) -> None:
    form = json.loads(canonical_bytes(validate(request_of())))

    assert form["profile"] == DEFAULT_PROFILE.name == "qr-1"
    assert list(PROFILES) == ["qr-1", "qr-0"]


@pytest.mark.parametrize("name", PROFILES)
def test_the_defaults_of_a_profile_are_frozen(name: str) -> None:
    table = rfc8785.dumps(dict(PROFILES[name].defaults))

    assert sha256(table).hexdigest() == FROZEN_DEFAULTS[name]


def test_the_schema_has_the_defaults_of_the_profile() -> None:
    spec = validate(RenderRequested(request_id="r", content="x", requested_at=0))

    assert {name: getattr(spec, name) for name in DEFAULT_PROFILE.defaults} == dict(DEFAULT_PROFILE.defaults)


@settings(max_examples=30, deadline=None)
@given(st.one_of(st.text(min_size=1, max_size=40), st.binary(min_size=1, max_size=40)))
def test_the_content_comes_back_from_the_canonical_form(content: str | bytes) -> None:
    try:
        raw = content if isinstance(content, bytes) else content.encode()
    except UnicodeEncodeError:
        return
    form = json.loads(canonical_bytes(validate(RenderRequested(request_id="r", content=raw, requested_at=0))))

    try:
        assert form["content"] == raw.decode()
    except UnicodeDecodeError:
        pytest.fail("content is claimed for bytes that are not UTF-8")
    except KeyError:
        with pytest.raises(UnicodeDecodeError):
            raw.decode()


CONTROLS = "".join(map(chr, range(0x20))) + '"\\\\/\x7f\x80\u2028\u2029\ufeff\uffff\U0001f468'


@settings(max_examples=30, deadline=None)
@given(
    content=st.one_of(st.just(CONTROLS), st.text(min_size=1, max_size=40), st.binary(min_size=1, max_size=40)),
    scale=st.floats(0.01, 1_000_000),
    margin=st.integers(0, 1_000_000),
)
def test_the_canonical_form_is_that_of_rfc_8785(content: str | bytes, scale: float, margin: int) -> None:
    try:
        spec = validate(
            RenderRequested(
                request_id="r", content=content, format="svg", scale=scale, margin=margin, light=None, requested_at=0
            )
        )
    except RequestRefused:
        return  # an unpaired surrogate
    form = canonical_bytes(spec)

    assert form == rfc8785.dumps(json.loads(form))
    assert json.loads(form)["scale"] == scale


def test_long_content_is_hashed_like_short_content(request_of: MakeRequest) -> None:
    request = request_of(content="x" * 5_000)

    assert identify(request)[1] == content_hash(validate(request))


def test_a_request_without_canonical_form_is_keyed_by_its_id() -> None:
    assert invalid_key("r-1") == sha256(b"qr-invalid/1\nr-1").hexdigest()
    assert invalid_key("ü") == sha256(b"qr-invalid/1\n\xc3\xbc").hexdigest()
    assert invalid_key("\ud800") == sha256(b"qr-invalid/1\n\xed\xa0\x80").hexdigest()
