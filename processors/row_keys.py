"""Keys of the rows of the `renders` table, by prefix (one table, one changelog a partition)."""

from __future__ import annotations

from hashlib import sha256

_NUL = b"\x00"
_HASH_LENGTH = 64
_HEX = b"0123456789abcdef"


def is_content_hash(key: bytes | None) -> bool:
    """Return whether `key` has the form of a content hash: 64 lower-case hex digits."""
    return key is not None and len(key) == _HASH_LENGTH and not key.strip(_HEX)


def marker_key(key: bytes | None, tenant: str, request_id: str) -> bytes:
    """Name the marker row of one request under its record's key.

    A key that has no form of a hash is replaced by `!` and its SHA-256 in hex, so
    that it can hold no NUL and be of any length. Tenant and request id hold no NUL
    once valid; those of an invalid request are escaped to keep the name unambiguous.
    """
    scope = key if is_content_hash(key) else b"!" + sha256(key or b"").hexdigest().encode()
    return b"request/" + (scope or b"") + _NUL + _part(tenant) + _NUL + _part(request_id)


def result_key(content_hash: str) -> bytes:
    """Name the result row of a content hash."""
    return b"result/" + content_hash.encode()


def artifact_key(content_hash: str) -> bytes:
    """Name the row that holds the artifact's bytes of a content hash."""
    return b"artifact/" + content_hash.encode()


def _part(text: str) -> bytes:
    if "\x00" in text:
        return b"\x01" + text.replace("\x00", "\x01\x01").encode("utf-8", "surrogatepass")
    return text.encode("utf-8", "surrogatepass")
