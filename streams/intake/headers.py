"""Headers of a submission: what they say of its value, and which of them its request keeps."""

from __future__ import annotations

from collections.abc import Iterable

from streams.deciding import stream_headers
from streams.ownership.batch import Headers

_CONTENT_TYPE = "content-type"
_REWRITTEN_PREFIX = "ce_"
_OURS_PREFIX = "qr-"
_REWRITTEN = frozenset({_CONTENT_TYPE, "traceparent"})


def content_type(headers: Iterable[tuple[str, bytes | None]]) -> bytes | None:
    """The value of `content-type`, in any case of its name; of several the last."""
    found = None
    for name, value in headers:
        if len(name) == len(_CONTENT_TYPE) and name.lower() == _CONTENT_TYPE:
            found = value
    return found


def kept(headers: Iterable[tuple[str, bytes | None]], generation: int) -> Headers:
    """The publisher's own headers, without those that describe the submission and not its request; our replay mark."""
    theirs: Headers = [
        (name, value) for name, value in headers
        if not (lower := name.lower()).startswith((_REWRITTEN_PREFIX, _OURS_PREFIX)) and lower not in _REWRITTEN
    ]
    return [*theirs, (stream_headers.GENERATION, b"%d" % generation)] if generation else theirs
