"""Make the golden vectors of a profile: python -m tests.golden.make_vectors qr-1 > processors/vectors/qr-1.jsonl

Run once, before a profile is released; what is released is never made again. The symbols are segno's (1.6.6), called
with the mode that the profile fixes; the files are those of the writers, which the tests of the formats hold against
other programs. It ends with an error where the encoder's own symbol is another.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import segno
from segno import consts, encoder

from processors.golden import make, modules_hash
from processors.jsonl import parse_request
from processors.spec import RenderSpec, validate
from processors.symbol import CAPACITY, mode_of

ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
LEVELS = "lmqh"
KINDS = ("byte", "numeric", "alphanumeric")
COLOURS: tuple[dict[str, Any], ...] = (
    {}, {"dark": "#1a2b3c"}, {"light": None}, {"dark": None}, {"dark": "#ffffff", "light": "#000000"}, {"dark": "#003366", "light": "#ffeecc"},
)
MODES = {"numeric": consts.MODE_NUMERIC, "alphanumeric": consts.MODE_ALPHANUMERIC, "byte": consts.MODE_BYTE}
ERROR_LEVELS = {"l": consts.ERROR_LEVEL_L, "m": consts.ERROR_LEVEL_M, "q": consts.ERROR_LEVEL_Q, "h": consts.ERROR_LEVEL_H}
TEXTS = (
    "https://example.com/menu?table=7&utm_source=qr", "WIFI:T:WPA;S:Blue Door;P:secret;;", "MATMSG", "0123", "00000000", "hello\0world", "äöüÖÄÜ", "Aä", "ßä",
    "Blüte", "帅", "兩個黃鸝鳴翠柳", "TRANS202404110011看看看16", "日本¥", "‾あ", "²", "¥", "ああ", "🧾 emoji 👩‍👩‍👧", "مرحبا بالعالم", "line\r\nline", " ", "\ufeffBOM",
    "BCD\n002\n1\nSCT\n\nExample\nDE02120300000000202051\nEUR12.3", "tel:+4930123456", "geo:52.52,13.40", "A", "a", "0", "$%*+-./:", "https://例え.jp/パス",
)


def requests(profile: str) -> Iterator[dict[str, Any]]:
    """Requests that differ in everything that a symbol or a file depends on; the same at every call."""
    rnd = random.Random(profile)  # reproducible on purpose
    yield from every_version(rnd)
    yield from small_ones(rnd)
    for text in TEXTS:
        yield {"content": text}
        yield {"content": text, "format": "svg", "error_correction": rnd.choice(LEVELS)}
    yield from files(rnd)


def every_version(rnd: random.Random) -> Iterator[dict[str, Any]]:
    """Full or nearly; up to version 10 in each mode.

    Most of the larger ones as svg: what png prepares for a new geometry takes as long as fifty symbols, at each start.
    """
    for version in range(1, 41):
        level = LEVELS[version % 4]
        kinds = KINDS if version <= 10 else (KINDS[version % 3],)
        file_format = "png" if version <= 10 or version % 20 == 0 else "svg"
        for fewer, kind in enumerate(kinds):
            request = content(rnd, kind, most(version, level, kind) - fewer)
            yield request | {"error_correction": level, "boost": bool(version % 2), "format": file_format}


def small_ones(rnd: random.Random) -> Iterator[dict[str, Any]]:
    """At every level, boosted or not; together they have each mask."""
    for level, boost in itertools.product(LEVELS, (True, False)):
        for number, length in enumerate((1, 3, 5, 8, 11, 14, 17, 21, 25, 32, 40, 50, 60, 75, 90)):
            file_format = "svg" if number % 2 else "png"
            yield content(rnd, rnd.choice(KINDS), length) | {"error_correction": level, "boost": boost, "format": file_format}


def files(rnd: random.Random) -> Iterator[dict[str, Any]]:
    """Every format, with scales, sizes, margins and pairs of colours."""
    for number, pair in enumerate(COLOURS):
        for file_format in ("png", "svg", "pdf", "eps"):
            yield content(rnd, "byte", 20 + 9 * number) | pair | {"format": file_format, "margin": number}
            yield content(rnd, "byte", 50 + number) | pair | {"format": file_format, "size": 200 + 37 * number, "margin": number % 3}
    for pixels in (1, 2, 3, 5, 7, 8, 9, 10, 16, 31, 100):
        yield content(rnd, "byte", 30) | {"scale": pixels}
    for scale, file_format in itertools.product((0.01, 0.5, 1.5, 2.25, 10), ("svg", "pdf", "eps")):
        yield content(rnd, "byte", 30) | {"scale": scale, "format": file_format}
    for number in range(6):
        paper: dict[str, Any] = {} if number % 2 else {"dark": "#ffffff", "light": "#000000"}
        yield content(rnd, "byte", 10 + 30 * number) | {"format": "txt", "margin": number} | paper


def content(rnd: random.Random, kind: str, length: int) -> dict[str, Any]:
    """A content of one mode and length."""
    if kind == "numeric":
        return {"content": "".join(rnd.choices("0123456789", k=length))}
    if kind == "alphanumeric":
        return {"content": "A" + "".join(rnd.choices(ALPHANUMERIC, k=length - 1))}
    return {"content_base64": base64.b64encode(b"\xff" + rnd.randbytes(length - 1)).decode()}


def most(version: int, level: str, kind: str) -> int:
    """How much a version holds, by asking segno."""
    low, high = 1, CAPACITY[kind][level]
    while low < high:
        middle = (low + high + 1) // 2
        text = {"numeric": "1", "alphanumeric": "A", "byte": "a"}[kind] * middle
        segments = encoder.prepare_data(text, MODES[kind], "utf-8")  # type: ignore[no-untyped-call]
        try:
            needed = encoder.find_version(segments, ERROR_LEVELS[level], eci=False, micro=False)  # type: ignore[no-untyped-call]
        except encoder.DataOverflowError:
            needed = 41
        low, high = (middle, high) if needed <= version else (low, middle - 1)
    return low


def by_segno(spec: RenderSpec) -> dict[str, Any]:
    """The facts of segno's symbol."""
    made = segno.make(
        spec.content, error=spec.error_correction, mode=mode_of(spec.content), encoding="utf-8", micro=False, boost_error=spec.boost
    )
    modules = np.array([list(row) for row in made.matrix], np.uint8)
    return {"version": int(made.version), "error_correction": str(made.error).lower(), "mask": int(made.mask), "modules": modules_hash(modules)}


def main(profile: str) -> None:
    """Write the vectors to standard output."""
    for request in requests(profile):
        request["profile"] = profile
        spec = validate(parse_request(json.dumps(request), request_id="golden", requested_at=0))
        made, reference = make(spec), by_segno(spec)
        if made.symbol != reference:
            raise SystemExit(f"the encoder's symbol is not segno's: {request}: {made.symbol} {reference}")
        sys.stdout.write(json.dumps({**request, "symbol": reference, "file": made.file}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
