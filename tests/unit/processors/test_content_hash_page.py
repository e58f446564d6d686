"""The page and the published vectors, as a stranger would use them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from processors.canonical import canonical_bytes, content_hash, invalid_key
from processors.jsonl import parse_request
from processors.spec import validate


@pytest.fixture(scope="module")
def published(repository: Path) -> dict[str, Any]:
    path = repository / "processors" / "vectors" / "content_hash.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "content-hash.md").read_text(encoding="utf-8")


def example(page: str, language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def test_our_canonical_form_and_hash_are_the_published_ones(published: dict[str, Any]) -> None:
    ours = []
    for vector in published["vectors"]:
        spec = validate(parse_request(json.dumps(vector["request"]), request_id="r", requested_at=0))
        ours.append((vector["name"], canonical_bytes(spec).decode(), content_hash(spec)))

    assert ours == [(v["name"], v["canonical"], v["content_hash"]) for v in published["vectors"]]
    assert len(ours) >= 25


def test_our_key_of_an_invalid_request_is_the_published_one(published: dict[str, Any]) -> None:
    assert [invalid_key(v["request_id"]) for v in published["invalid_keys"]] == [
        v["key"] for v in published["invalid_keys"]
    ]


def test_the_python_of_the_page_gives_the_published_hashes(page: str, published: dict[str, Any]) -> None:
    names: dict[str, Any] = {}
    exec(example(page, "python"), names)

    assert [names["content_hash"](v["request"]) for v in published["vectors"]] == [
        v["content_hash"] for v in published["vectors"]
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the page's JavaScript")
def test_the_javascript_of_the_page_gives_the_published_hashes(
    page: str, published: dict[str, Any], tmp_path: Path
) -> None:
    requests = tmp_path / "requests.json"
    requests.write_text(json.dumps([v["request"] for v in published["vectors"]]), encoding="utf-8")
    program = (
        example(page, "javascript")
        + f'\nconst requests = JSON.parse(require("node:fs").readFileSync({json.dumps(str(requests))}, "utf8"));'
        + "\nconsole.log(JSON.stringify(requests.map(contentHash)));\n"
    )
    done = subprocess.run(["node", "-e", program], capture_output=True, check=True, timeout=60)

    assert json.loads(done.stdout) == [v["content_hash"] for v in published["vectors"]]


def test_the_example_by_hand_is_right(page: str, published: dict[str, Any]) -> None:
    first = published["vectors"][0]

    assert first["request"] == {"content": "https://example.com"}
    assert f"    {first['canonical']}\n" in page
    assert f"`{first['content_hash']}`" in page
