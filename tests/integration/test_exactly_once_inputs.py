"""The inputs that broke other projects, through the whole stream; and the same bytes from workers set up differently."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.publisher import request
from tests.support.stream_run import StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]

INPUTS = Path(__file__).resolve().parents[1] / "unit" / "processors" / "inputs" / "contents.jsonl"
NO_CANONICAL_FORM = {"content_empty", "invalid_option", "invalid_content"}


def lines() -> list[dict[str, Any]]:
    """Every line, with its number as request id."""
    found = []
    for number, text in enumerate(INPUTS.read_text(encoding="utf-8").splitlines()):
        line = json.loads(text)
        if "content_base64" in line:
            line["content"] = base64.b64decode(line.pop("content_base64"))
        found.append({"id": f"line-{number}", **line})
    return found


def publish_lines(stream: StreamRun) -> None:
    """All lines but the one that no publisher can encode."""
    for line in lines():
        expect = line.get("expect")
        if expect == "invalid_content":
            continue
        fields = {name: value for name, value in line.items() if name not in ("id", "note", "expect", "content")}
        made = request(line["content"], line["id"], **fields)
        stream.publisher.publish_requests([made], error=expect, canonical=expect not in NO_CANONICAL_FORM)


def test_every_line_does_what_it_says_and_symbols_read_back_to_the_exact_bytes(stream: StreamRun) -> None:
    worker = stream.start()
    publish_lines(stream)
    stream.wait_all(worker)
    verdict = stream.verdict()
    assert not verdict.faults, f"{verdict.faults}\n{stream.rerun()}"
    good = [line for line in lines() if "expect" not in line]
    assert sum(verdict.by_source.values()) == len(good)
    assert verdict.by_error == {code: sum(line.get("expect") == code for line in lines()) for code in verdict.by_error}
    assert len(stream.publisher.expected) == len(lines()) - 1


def test_avro_cannot_hold_the_unpaired_surrogate(stream: StreamRun) -> None:
    line = next(line for line in lines() if line.get("expect") == "invalid_content")
    with pytest.raises(UnicodeEncodeError):
        stream.publisher.publish_requests([request(line["content"], line["id"])], canonical=False)


def artifacts(stream: StreamRun, **environment: str) -> dict[tuple[str, str], bytes]:
    """(content hash, format) → bytes, of every line as PNG and as SVG."""
    worker = stream.start(environment=environment)
    publish_lines(stream)
    pngs = dict(stream.publisher.expected)
    svgs = [line for line in lines() if "expect" not in line]
    for line in svgs:
        fields = {name: value for name, value in line.items() if name not in ("id", "note", "content")}
        stream.publisher.publish_requests([request(line["content"], f"svg-{line['id']}", format="svg", **fields)])
    stream.wait_all(worker)
    assert len(stream.publisher.expected) == len(pngs) + len(svgs)
    verdict = stream.verdict()
    assert not verdict.faults, f"{verdict.faults}\n{stream.rerun()}"
    return {(o.fields["content_hash"], o.fields["format"]): o.fields["artifact"] for o in stream.outcomes.to_end() if o.kind == "completed"}


def test_other_hash_seeds_locales_and_time_zones_give_the_same_bytes(new_stream: NewStream) -> None:
    one = artifacts(new_stream(), PYTHONHASHSEED="1", LC_ALL="C", LANG="C", TZ="UTC", PYTHONUTF8="0")
    other = artifacts(new_stream(), PYTHONHASHSEED="4242", LC_ALL="tr_TR.UTF-8", LANG="tr_TR.UTF-8", TZ="Asia/Kathmandu", PYTHONUTF8="1")
    assert {kind for _, kind in one} == {"png", "svg"}
    assert one.keys() == other.keys()
    assert one == other
