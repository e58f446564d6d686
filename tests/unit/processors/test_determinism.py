from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = r"""
from dataclasses import replace
from hashlib import sha256
from processors.canonical import identify
from processors.render import render
from processors.symbol import make_symbol
from processors.verify.damage import damage_margin
from schemas.events import RenderRequested

for fields in (
    {"content": "Gr\u00fc\u00dfe \u2615 0123"},
    {"content": "Gr\u00fc\u00dfe \u2615 0123", "format": "svg", "scale": 1.5, "dark": "#123456"},
    {"content": b"\xff\x00", "size": 222.0, "light": None},
    {"content": "0123", "format": "svg", "dark": None},
    {"content": "\u65e5\u672c\u00a5", "size": 200, "margin": 0, "dark": "#fff", "light": "#000"},
    {"content": "I\u0131\u0130i", "error_correction": "Q", "boost": False, "dark": "#ABCDEF", "light": "#123"},
    {"content": "A" * 500},
    {"content": "I\u0131\u0130i", "format": "pdf", "dark": "#123", "scale": 1.5},
    {"content": "I\u0131\u0130i", "format": "eps", "size": 100.0},
    {"content": "I\u0131\u0130i", "format": "txt"},
):
    spec, content_hash = identify(RenderRequested(request_id="r", requested_at=0, **fields))
    rendered = render(spec)
    damage = damage_margin(make_symbol(spec), spec.content)
    print(content_hash, sha256(rendered.artifact).hexdigest(), ascii(replace(rendered, artifact=b"")), damage)
"""

SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Jakarta", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "4294967295", "LC_ALL": "POSIX", "TZ": "America/St_Johns", "PYTHONUTF8": "1", "PYTHONOPTIMIZE": "1"},
)


def test_the_bytes_do_not_depend_on_hash_seed_locale_or_time_zone(repository: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=repository,
            env={**os.environ, "PYTHONPATH": str(repository), **surroundings},
            stdout=subprocess.PIPE,
            text=True,
        )
        for surroundings in SURROUNDINGS
    ]
    outputs = [worker.communicate(timeout=120)[0] for worker in workers]

    assert [worker.returncode for worker in workers] == [0, 0, 0]
    assert len(outputs[0].splitlines()) == 10
    assert outputs[0] == outputs[1] == outputs[2]
