"""How long an answer lives."""

from __future__ import annotations

from typing import Final

_HASH_STEPS: Final = 0xFFFFFFFF


def jittered_ttl(content_hash: str, ttl_ms: int) -> int:
    """Return `ttl_ms` moved by up to 10 % either way, always the same way for one hash.

    Results made in one burst would otherwise expire, and be rendered, in one burst.
    Milliseconds; whole numbers throughout, so that every worker agrees.
    """
    step = int(content_hash[:8], 16)
    return ttl_ms - ttl_ms // 10 + ttl_ms // 5 * step // _HASH_STEPS
