"""Files of requests, JSON Lines: read by ``qrstream publish``, ``up`` and ``render --request``."""

from __future__ import annotations

import codecs
import time
import uuid
from collections.abc import Iterable, Iterator

from processors.errors import RequestRefused
from processors.jsonl import parse_request
from schemas.events import RenderRequested


def read_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, RenderRequested | RequestRefused]]:
    """Number (from 1) and request of every line that is not blank; a bad line gives its refusal, and the others go on.

    A request without id gets a new one (UUID 4), one without time the present.
    """
    for number, raw in enumerate(lines, 1):
        # Some editors begin a file with a byte order mark; it is no part of JSON (RFC 8259 section 8.1).
        text = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if not text.strip():
            continue
        try:
            yield number, _request(text)
        except RequestRefused as refusal:
            yield number, refusal


def _request(raw: bytes) -> RenderRequested:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise RequestRefused("invalid_request", f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8") from error
    return parse_request(text, request_id=str(uuid.uuid4()), requested_at=time.time_ns() // 1_000_000)
