"""Rows that expire: when, written in front of the row, and in an index ordered by it.

The index is local: it follows from the rows, is written with them, and is made again by a restore. An entry whose row
has since been written with another expiry, or deleted, means nothing: whoever reads the index compares.
"""

from __future__ import annotations

from typing import NamedTuple

_MARK = b"\x01"
"""Told apart from an Avro single object (C3 01) and from every image format's first byte."""
_INSTANT_BYTES = 8
_FRAME = len(_MARK) + _INSTANT_BYTES

INDEX = b"expiry/"
"""Begins the index's keys; never in the changelog."""
WITHOUT_EXPIRY = (b"artifact/", b"position/", b"answerable/")
"""Rows that go with another, or stay."""


class Due(NamedTuple):
    """One entry of the index: its own key, the instant (milliseconds since the epoch) and the row's key."""

    entry: bytes
    expires_ms: int
    key: bytes


def expiring(row: bytes, expires_ms: int) -> bytes:
    """The row as it is stored: expiry in front."""
    return _MARK + max(expires_ms, 0).to_bytes(_INSTANT_BYTES, "big") + row


def without_expiry(stored: bytes) -> bytes:
    """The row itself."""
    return stored[_FRAME:] if stored.startswith(_MARK) else stored


def expiry_of(key: bytes, stored: bytes) -> int | None:
    """When a stored row expires, in milliseconds since the epoch; None if it does not."""
    instant = _instant(key, stored)
    return None if instant is None else int.from_bytes(instant, "big")


def entry(key: bytes, stored: bytes) -> bytes | None:
    """The index entry of a stored row; None if it does not expire. Entries sort by instant."""
    instant = _instant(key, stored)
    return None if instant is None else INDEX + instant + key


def _instant(key: bytes, stored: bytes) -> bytes | None:
    if not stored.startswith(_MARK) or key.startswith(WITHOUT_EXPIRY):
        return None
    return stored[len(_MARK) : _FRAME]


def read_entry(raw: bytes) -> Due:
    """What an index key says."""
    begin = len(INDEX) + _INSTANT_BYTES
    return Due(raw, int.from_bytes(raw[len(INDEX) : begin], "big"), raw[begin:])
