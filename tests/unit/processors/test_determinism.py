from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = r"""
import sys
from hashlib import sha256
from processors.canonical import identify
from processors.render import render
from schemas.events import RenderRequested

for fields in (
    {"content": "Gr\u00fc\u00dfe \u2615 0123"},
    {"content": "Gr\u00fc\u00dfe \u2615 0123", "format": "svg", "scale": 1.5, "dark": "#123456"},
    {"content": b"\xff\x00", "size": 222.0, "light": None},
    {"content": "0123", "format": "svg", "dark": None},
    {"content": "0123", "format": "pdf", "scale": 1.5, "dark": "#123456"},
    {"content": "0123", "format": "eps", "size": 222.0},
    {"content": "0123", "format": "txt"},
):
    spec, content_hash = identify(RenderRequested(request_id="r", requested_at=0, **fields))
    print(content_hash, sha256(render(spec).artifact).hexdigest())
"""

SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Jakarta", "PYTHONUTF8": "0"},
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

    assert [worker.returncode for worker in workers] == [0, 0]
    assert len(outputs[0].splitlines()) == 7
    assert outputs[0] == outputs[1]
