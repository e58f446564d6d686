"""Our symbols beside segno's: python -m tests.support.symbol_comparison < cases

A case is one JSON line: kind, version, level, length. In this process segno cannot be imported; its symbols come from
processes of `tests.support.segno_reference`. Prints one JSON object: how many symbols were compared, which pairs of
version and level they had, and every difference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

sys.modules["segno"] = None  # type: ignore[assignment]  # an import of it now fails

from processors.spec import RenderSpec  # noqa: E402
from processors.symbol import make_symbol, mask_penalties, mode_of  # noqa: E402
from tests.support.symbol_contents import KINDS, content_of  # noqa: E402

Symbol = dict[str, Any]


def compare(cases: list[dict[str, Any]], processes: int) -> dict[str, Any]:
    """Compare both symbols, boosted and not, of each case."""
    here = threading.local()
    references: list[subprocess.Popen[str]] = []
    pairs: set[tuple[int, str]] = set()
    differences: list[str] = []

    def start() -> None:
        here.reference = subprocess.Popen([sys.executable, "-m", "tests.support.segno_reference"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        references.append(here.reference)

    def one(case: dict[str, Any]) -> int:
        content = content_of(**case)
        mode = mode_of(content)
        assert mode == KINDS[case["kind"]][0]
        here.reference.stdin.write(json.dumps({"content": content.hex(), "mode": mode, "level": case["level"]}) + "\n")
        here.reference.stdin.flush()
        theirs = json.loads(here.reference.stdout.readline())
        for name, boost in (("plain", False), ("boosted", True)):
            mine = ours(RenderSpec(content, "png", case["level"], boost, 8, None, 4, "#000000", "#ffffff", "qr-0"))
            pairs.add((mine["version"], mine["level"]))
            differences.extend(f"{case} {name}: {field}" for field in theirs[name] if mine[field] != theirs[name][field])
        return 2

    with ThreadPoolExecutor(processes, initializer=start) as threads:
        symbols = sum(threads.map(one, cases))
    for reference in references:
        reference.communicate()
        assert reference.returncode == 0
    return {"symbols": symbols, "pairs": sorted(pairs), "differences": differences}


def ours(spec: RenderSpec) -> Symbol:
    made = make_symbol(spec)
    return {
        "version": made.version, "level": made.error_correction, "mask": made.mask,
        "penalties": [list(penalty) for penalty in mask_penalties(spec)], "modules": made.modules.tobytes().hex(),
    }


if __name__ == "__main__":
    json.dump(compare([json.loads(line) for line in sys.stdin], min(8, os.cpu_count() or 1)), sys.stdout)
