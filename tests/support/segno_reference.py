"""Symbols by segno, for a process that has no segno: python -m tests.support.segno_reference

One JSON object a line on standard input (content in hex, mode, level), answered by one a line: the symbol without
boost, and the one with it where its level differs.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import segno


def answers() -> None:
    # segno ships stubs for its front page only.
    encoder: Any = importlib.import_module("segno.encoder")
    scores: list[tuple[int, ...]] = []

    def recorded(matrix: Any, width: int, height: int) -> int:
        score = encoder.mask_scores(matrix, width, height)
        scores.append(score)
        return int(sum(score))

    encoder.evaluate_mask = recorded

    def made(content: bytes, mode: str, level: str, *, boost: bool) -> dict[str, Any]:
        scores.clear()
        code = segno.make(content, error=level, mode=mode, encoding="utf-8", micro=False, boost_error=boost)
        assert len(scores) == 8
        return {
            "version": code.version, "level": str(code.error).lower(), "mask": code.mask, "penalties": list(scores),
            "modules": b"".join(bytes(row) for row in code.matrix).hex(),
        }

    for line in sys.stdin:
        asked = json.loads(line)
        content, mode, level = bytes.fromhex(asked["content"]), asked["mode"], asked["level"]
        plain = made(content, mode, level, boost=False)
        segments = encoder.prepare_data(content, encoder.normalize_mode(mode), "utf-8")
        raised = encoder.boost_error_level(plain["version"], encoder.normalize_errorlevel(level), segments, eci=False)
        boosted = plain if encoder.get_error_name(raised).lower() == level else made(content, mode, level, boost=True)
        sys.stdout.write(json.dumps({"plain": plain, "boosted": boosted}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    answers()
