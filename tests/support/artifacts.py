"""Artifacts of tests, and what they are called."""

from __future__ import annotations

from hashlib import sha256

from processors.artifact_keys import artifact_path

CONTENT = b"\x89PNG of this test"
OTHER = b"\x89PNG of another render"


def checksum_of(content: bytes) -> str:
    """SHA-256 in hex."""
    return sha256(content).hexdigest()


def key_of(name: str) -> str:
    """The key of an artifact whose content hash is made of this name."""
    return artifact_path("qr-1", checksum_of(name.encode()), "png", None)


CHECKSUM = checksum_of(CONTENT)
KEY = key_of("one")
