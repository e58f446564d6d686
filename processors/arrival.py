"""What one record of the requested topic is, before anything is decided about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from processors.canonical import identify
from processors.errors import RenderError, RequestRefused, StreamRefused
from processors.partitioner import partition_for
from processors.spec import check_envelope
from schemas.codec import Codec, UndecodableError
from schemas.events import RenderRequested

if TYPE_CHECKING:
    from processors.spec import RenderSpec

MAX_REQUEST_BYTES: Final = 1024 * 1024
"""Largest value taken. Lower than 8 KiB would refuse 7,089 digits with full options;
higher only moves more of what no QR Code can hold (the topic itself takes 3 MiB)."""


@dataclass(slots=True)
class Arrival:
    """One record, read as far as it can be; never changed (`frozen` would cost five times as much to make).

    key: the record's, None when absent. size_bytes: of its value. partition: where
    it lies; home_partition: where its key belongs (None without a key). rerouted: it
    was moved once before. generation, attempt: both from headers; attempts count
    from 1. request: None when undecodable. spec, content_hash: None when there is no
    canonical form. problem: the first fault found, None when sound.
    """

    key: bytes | None
    size_bytes: int
    partition: int
    rerouted: bool
    generation: int
    attempt: int
    request: RenderRequested | None
    spec: RenderSpec | None
    content_hash: str | None
    problem: RenderError | None
    home_partition: int | None = None


def read_arrival(  # noqa: PLR0913 - a record has that many coordinates
    key: bytes | None,
    value: bytes | None,
    *,
    partition: int,
    partitions: int,
    generation: int,
    attempt: int,
    rerouted: bool,
    codec: Codec,
    tenants_apart: bool = False,
) -> Arrival:
    """Read a record; whatever is wrong with it ends in `problem`, never in an exception.

    The problem is the first of: undecodable (a null value too), request_too_large,
    the fault of the request itself, missing_key, wrong_key. The key of a request
    without canonical form is not checked: nobody could have computed it.
    """
    request: RenderRequested | None = None
    spec: RenderSpec | None = None
    content_hash: str | None = None
    problem: RenderError | None = None
    size_bytes = 0 if value is None else len(value)
    try:
        request = _decoded(value, codec)
        if size_bytes > MAX_REQUEST_BYTES:
            raise _too_large(size_bytes)
        check_envelope(request)
        spec, content_hash = identify(request, tenants_apart=tenants_apart)
        if not key:
            raise StreamRefused("missing_key", f"the record has no key; key it by {content_hash}")
        if key != content_hash.encode():
            raise StreamRefused("wrong_key", f"the record's key must be {content_hash}")
    except RenderError as error:
        problem = error
    return Arrival(
        key,
        size_bytes,
        partition,
        rerouted,
        generation,
        attempt,
        request,
        spec,
        content_hash,
        problem,
        partition_for(key, partitions) if key else None,
    )


def _decoded(value: bytes | None, codec: Codec) -> RenderRequested:
    if value is None:
        raise RequestRefused("undecodable", "the record has no value")
    try:
        return codec.decode(value, RenderRequested)
    except UndecodableError as error:
        raise RequestRefused("undecodable", f"the value is no RenderRequested: {error}") from error


def _too_large(size_bytes: int) -> StreamRefused:
    return StreamRefused(
        "request_too_large",
        f"the value has {size_bytes:,} bytes, at most {MAX_REQUEST_BYTES:,} are taken; "
        "no QR Code holds more than 7,089 characters",
    )
