"""Golden vectors: what a profile has fixed for ever, and whether this installation makes it.

A file of JSON Lines a profile, in processors/vectors. A line is a request with the member names
of `qrstream publish`, and what comes of it: `symbol` (version, error_correction, mask, and the
SHA-256 of the modules as lines of 0 and 1, 1 is dark) and `file` (the SHA-256 of its bytes). The
symbols were made by segno 1.6.6. A released file is never edited: its own SHA-256 is below.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from processors.errors import RenderError
from processors.images.formats import FORMATS
from processors.images.layout import lay_out
from processors.jsonl import parse_request
from processors.profile import PROFILES
from processors.spec import RenderSpec, validate
from processors.symbol.encode import make_symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

PINNED: Final = {"qr-1": "57c39c27f25a98e65091dc214a799803409b3b9be23d87b504a49bb8e4e42c87"}
"""SHA-256 of the file of each frozen profile, by its name."""


class OtherBytes(Exception):
    """What this installation makes is not what the profile says; the message is one line."""


class Made(NamedTuple):
    """What comes of a request: facts of the symbol, and the file's SHA-256."""

    symbol: dict[str, Any]
    file: str


def file_name(profile: str) -> str:
    """Name of a profile's file in the package `processors.vectors`."""
    return f"{profile}.jsonl"


def check(profile: str, vectors: bytes) -> int:
    """Make every vector of a profile again; their number.

    Raises OtherBytes for the first that differs, and for a file that is not the released one.
    """
    found = sha256(vectors).hexdigest()
    if found != PINNED[profile]:
        raise OtherBytes(f"the golden vectors of profile {profile} were edited (SHA-256 {found}, not {PINNED[profile]})")
    number = 0
    for number, (spec, wanted) in enumerate(read(vectors), 1):
        vector = f"golden vector {number} of profile {profile} ({spec.format}, version {wanted.symbol['version']})"
        try:
            made = make(spec)
        except RenderError as refusal:
            raise OtherBytes(f"{vector} is refused as {refusal.code}") from refusal
        if made != wanted:
            raise OtherBytes(f"{vector} has another {'symbol' if made.symbol != wanted.symbol else 'file'}")
    return number


def read(vectors: bytes) -> Iterator[tuple[RenderSpec, Made]]:
    """Each vector's spec, and what was made of it when the profile was frozen."""
    for line in vectors.splitlines():  # of bytes: a str would be cut at U+2028 too, which JSON leaves as it is
        members = json.loads(line)
        made = Made(members.pop("symbol"), members.pop("file"))
        yield validate(parse_request(json.dumps(members), request_id="golden", requested_at=0)), made


def make(spec: RenderSpec) -> Made:
    """Make a symbol and its file as `processors.render` does, without reading it back."""
    symbol = make_symbol(spec)
    layout = lay_out(spec, symbol.side, PROFILES[spec.profile].max_side_px)
    artifact = FORMATS[spec.format].write(symbol.modules, spec, layout)
    facts = {
        "version": symbol.version,
        "error_correction": symbol.error_correction,
        "mask": symbol.mask,
        "modules": modules_hash(symbol.modules),
    }
    return Made(facts, sha256(artifact).hexdigest())


def modules_hash(modules: NDArray[np.uint8]) -> str:
    """SHA-256 of n lines of n digits, 1 is dark, each with LF."""
    digits = np.pad(modules + np.uint8(ord("0")), ((0, 0), (0, 1)), constant_values=ord("\n"))
    return sha256(digits.tobytes()).hexdigest()
