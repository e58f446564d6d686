"""`qrstream render`: the stream's bytes and codes, without a stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from processors.canonical import identify
from processors.render import render
from schemas.events import RenderRequested
from tests.support.artifact_check import content_of
from tests.unit.cli.conftest import Ran

Qrstream = Callable[..., Ran]


def test_a_file_gets_the_bytes_that_the_stream_makes_of_the_same_request(qrstream: Qrstream, tmp_path: Path) -> None:
    file = tmp_path / "code.png"
    ran = qrstream("render", "https://example.com", "-o", str(file))
    spec, content_hash = identify(RenderRequested(request_id="r", requested_at=0, content="https://example.com"))
    assert ran.code == 0
    assert file.read_bytes() == render(spec).artifact
    assert content_hash in ran.out
    assert content_of(file.read_bytes(), "image/png") == b"https://example.com"


def test_the_format_follows_the_files_name_unless_it_is_given(qrstream: Qrstream, tmp_path: Path) -> None:
    by_name, given = tmp_path / "a.svg", tmp_path / "b.svg"
    assert qrstream("render", "a", "-o", str(by_name)).code == 0
    assert qrstream("render", "a", "-o", str(given), "--format", "png").code == 0
    assert by_name.read_bytes().startswith(b"<?xml") or by_name.read_bytes().startswith(b"<svg")
    assert given.read_bytes().startswith(b"\x89PNG")


def test_options_change_the_request_as_members_of_a_line_do(qrstream: Qrstream, tmp_path: Path) -> None:
    line = {"content": "a", "format": "svg", "error_correction": "H", "boost": False, "size": 300, "margin": 2, "dark": "#123", "light": None}
    requests = tmp_path / "one.jsonl"
    requests.write_text(json.dumps(line))
    options = ["--format", "svg", "-e", "H", "--no-boost", "--size", "300", "--margin", "2", "--dark", "#123", "--light", "transparent"]
    from_line = json.loads(qrstream("render", "--request", str(requests), "--json").out)
    from_options = json.loads(qrstream("render", "a", *options, "--json").out)
    assert from_options == from_line
    assert from_line["format"] == "svg"


def test_json_names_hash_size_and_checksum_of_the_file(qrstream: Qrstream, tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    facts = json.loads(qrstream("render", "a", "-o", str(file), "--json").out)
    assert facts["file"] == str(file)
    assert facts["checksum"] == sha256(file.read_bytes()).hexdigest()
    assert facts["size_bytes"] == len(file.read_bytes())
    assert facts["media_type"] == "image/png"


def test_without_a_file_the_symbol_is_drawn(qrstream: Qrstream) -> None:
    drawing = qrstream("render", "a").out.splitlines()[:-1]
    # Version 1 and four modules around it: 29 columns, two rows of modules a line.
    assert [len(line) for line in drawing] == [29] * 15
    assert drawing[0] == drawing[1] == "█" * 29
    assert drawing[2].startswith("████ ▄▄▄▄▄ ")


def test_several_requests_become_files_named_by_their_hash(qrstream: Qrstream, tmp_path: Path) -> None:
    requests = tmp_path / "many.jsonl"
    requests.write_text('{"content": "a"}\n\n{"content": "b", "format": "svg"}\n{"content": "a"}\n')
    folder = tmp_path / "symbols"
    assert qrstream("render", "--request", str(requests), "-o", str(folder)).code == 0
    hashes = {
        identify(RenderRequested(request_id="r", requested_at=0, content="a"))[1] + ".png",
        identify(RenderRequested(request_id="r", requested_at=0, content="b", format="svg"))[1] + ".svg",
    }
    assert {file.name for file in folder.iterdir()} == hashes


def test_several_requests_do_not_fit_in_one_file(qrstream: Qrstream, tmp_path: Path) -> None:
    requests = tmp_path / "many.jsonl"
    requests.write_text('{"content": "a"}\n{"content": "b"}\n')
    ran = qrstream("render", "--request", str(requests), "-o", str(tmp_path / "one.png"))
    assert ran.code == 2
    assert ran.err == "error usage: 2 requests do not fit in one file; name a folder with -o, for files named by content hash\n"
    assert not (tmp_path / "one.png").exists()


def test_a_refused_line_is_named_and_the_others_are_rendered(qrstream: Qrstream, tmp_path: Path) -> None:
    requests = tmp_path / "many.jsonl"
    requests.write_text('{"content": "a"}\n{"content": ""}\n{"content": "\\ud800"}\nnot json\n{"content": "b", "deadline": 1}\n{"content": "c"}\n')
    ran = qrstream("render", "--request", str(requests), "--json")
    assert ran.code == 1
    assert [line.split(":")[0] + ":" + line.split(":")[1] for line in ran.err.splitlines()] == [
        "error content_empty: line 2", "error invalid_content: line 3", "error invalid_request: line 4", "error deadline_exceeded: line 5",
    ]
    assert len(ran.out.splitlines()) == 2


def test_a_file_that_was_there_is_kept_when_the_request_is_refused(qrstream: Qrstream, tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(b"before")
    assert qrstream("render", "a", "--scale", "-1", "-o", str(file)).code == 1
    assert file.read_bytes() == b"before"
