"""`qrstream content-types`, and `qrstream render --type`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest

from processors.content_types import CONTENT_TYPES
from processors.content_types.page import example_payload
from processors.content_types.payload import content_of_payload
from streams.cli.payload_words import content_of_words
from tests.unit.cli.conftest import Ran

Qrstream = Callable[..., Ran]


def test_the_list_has_a_line_for_every_type_with_its_fields(qrstream: Qrstream) -> None:
    lines = qrstream("content-types").out.splitlines()
    assert [line.split()[0] for line in lines] == list(CONTENT_TYPES)
    assert lines[list(CONTENT_TYPES).index("tel")] == "tel    number [context] [extension]"


@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_the_command_that_a_types_help_shows_makes_the_text_that_it_shows(qrstream: Qrstream, name: str) -> None:
    shown = qrstream("content-types", name).out
    command = shown[shown.index("\nqrstream render") : shown.index('\n{"payload"')]
    words = shlex.split(command)
    payload = example_payload(CONTENT_TYPES[name])
    assert words[:4] == ["qrstream", "render", "--type", name]
    assert content_of_words(name, words[4:]) == content_of_payload(payload)
    assert json.dumps({"payload": payload}, ensure_ascii=False) in shown.splitlines()


def test_json_is_one_object_a_type(qrstream: Qrstream) -> None:
    objects = [json.loads(line) for line in qrstream("content-types", "--json").out.splitlines()]
    assert [one["type"] for one in objects] == list(CONTENT_TYPES)
    [tel] = [json.loads(line) for line in qrstream("content-types", "tel", "--json").out.splitlines()]
    assert tel["fields"][0] == {"name": "number", "takes": "a string", "needed": True, "meaning": "global with + and country code; or local, with `context`"}
    assert tel["example"] == {"type": "tel", "number": "+1-201-555-0123"}


def test_fields_on_the_command_line_render_as_their_text_does(qrstream: Qrstream) -> None:
    typed = json.loads(qrstream("render", "--type", "wifi", "ssid=a=b", "password=milk;sugar", "hidden=true", "--json").out)
    as_text = json.loads(qrstream("render", "WIFI:T:WPA;S:a=b;H:true;P:milk\\;sugar;;", "--json").out)
    assert typed == as_text


def test_a_field_of_several_values_is_given_several_times_and_an_object_by_its_path() -> None:
    assert content_of_words("email", ["to=a@example.com", "to=b@example.com", "subject=x"]) == "mailto:a@example.com,b@example.com?subject=x"
    pix = ["accounts.26.00=br.gov.bcb.pix", "accounts.02=4111", "category=0000", "currency=986", "country=BR", "name=F", "city=B"]
    assert content_of_words("emvco", pix) == content_of_payload({
        "type": "emvco", "accounts": {"26": {"00": "br.gov.bcb.pix"}, "02": "4111"}, "category": "0000", "currency": "986", "country": "BR", "name": "F", "city": "B",
    })
