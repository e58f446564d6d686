"""Strategies for every record, and one example of each, for the tests of this folder."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_origin, get_type_hints

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from schemas.events import (
    RECORD_TYPES,
    ClaimRow,
    DlqDisposition,
    MarkerRow,
    Record,
    RenderCompleted,
    RenderFailed,
    RenderRequested,
    RenderSubmitted,
    ResultRow,
    Verification,
    WaitingRow,
)

PATIENT = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
"""For a machine that does other things meanwhile: how long an example takes is no matter of these tests."""

NOW = 1_764_400_000_123
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

VERIFICATION = Verification(
    decoder="zxing-cpp/2.3.0", contrast_ratio=21.0, quiet_zone_modules=4.0, module_px=8.0, inverted=True,
    warnings=("inverted", "ambiguous_text"),
)  # fmt: skip
EXAMPLES: tuple[Record, ...] = (
    RenderRequested(request_id="order-17", content="https://example.com/?a=ü", scale=8.0, requested_at=NOW),
    RenderCompleted(
        event_id="e-1", request_id="order-17", tenant="default", generation=0, content_hash=HASH, source="rendered",
        format="png", media_type="image/png", checksum=HASH, size_bytes=500, result_ref=f"file:///qr-1/{HASH}.png",
        artifact=bytes(range(250)) * 2, renderer="segno/1.6.6", profile="qr-1", version=3, error_correction="m", mask=7,
        verification=VERIFICATION, attempts=1, requested_at=NOW, completed_at=NOW + 5, expires_at=NOW + 86_400_000,
    ),
    RenderFailed(
        event_id="e-2", request_id="order-18", tenant="default", generation=0, error_code="content_empty",
        error_class="permanent", message="the content is empty", attempts=1, requested_at=NOW, failed_at=NOW + 4,
    ),
    ResultRow(
        status="ready", attempts=1, checksum=HASH, result_ref=f"file:///qr-1/{HASH}.png", media_type="image/png",
        size_bytes=500, format="png", renderer="segno/1.6.6", profile="qr-1", version=3, error_correction="m", mask=7,
        verification=VERIFICATION, created_at=NOW, updated_at=NOW, fresh_until=NOW + 1, stale_until=NOW + 2,
        expires_at=NOW + 3,
    ),
    MarkerRow(generation=0, attempt=1, outcome="completed", event_id="e-1", expires_at=NOW),
    WaitingRow(offset=17, key=HASH.encode(), value=bytes(range(200)), headers='[["traceparent","MDA="]]', began_at=NOW, expires_at=NOW + 60_000),
    DlqDisposition(
        letter="qr.render.dlq-3-17", action="replayed", generation=1, who="ann", decided_at=NOW, why="the renderer is repaired",
        target_topic="qr.render.requested", target_partition=2,
    ),
    RenderSubmitted(tenant="shop", idempotency_key="order\x0017 🧾", content=b"\xff\x00", deadline=NOW),
    ClaimRow(request_id=f"{HASH}-0123456789abcdef", content_hash=HASH, fingerprint=bytes(32), generation=0, state="forwarded", expires_at=NOW),
)  # fmt: skip

_LONG = {"size_bytes", "deadline", "next_attempt_at", "fresh_until", "stale_until", "offset"}
_INT = st.integers(-(1 << 31), (1 << 31) - 1)
_ANY_LONG = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(1 << 34, 1 << 41)
_BASE: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text() | st.text(min_size=60, max_size=200),
    bytes: st.binary(max_size=300),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    type(None): st.none(),
}


def _values(name: str, kind: Any) -> st.SearchStrategy[Any]:
    if get_origin(kind) is tuple:
        return st.lists(_BASE[str], max_size=70).map(tuple)
    if kind is Verification:
        return instances(Verification)
    if kind is int:
        return _ANY_LONG if name in _LONG or name.endswith("_at") else _INT
    if kind in _BASE:
        return _BASE[kind]
    return st.one_of(*(_values(name, branch) for branch in kind.__args__))


def instances(view: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(view)
    return st.builds(view, **{field.name: _values(field.name, hints[field.name]) for field in fields(view)})


ANY_RECORD: st.SearchStrategy[Record] = st.one_of(*(instances(view) for view in RECORD_TYPES))
