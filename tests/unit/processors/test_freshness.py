from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from processors.freshness import jittered_ttl

HEX = st.text("0123456789abcdef", min_size=64, max_size=64)


def test_a_lifetime_is_moved_by_ten_percent_at_most_either_way() -> None:
    assert jittered_ttl("0" * 64, 1_000_000) == 900_000
    assert jittered_ttl("f" * 64, 1_000_000) == 1_100_000
    assert jittered_ttl("8" + "0" * 63, 1_000_000) == 1_000_000


@settings(max_examples=25, deadline=None)
@given(HEX, st.integers(0, 10**12))
def test_every_hash_stays_inside_the_ten_percent(content_hash: str, ttl_ms: int) -> None:
    lifetime = jittered_ttl(content_hash, ttl_ms)

    assert isinstance(lifetime, int)
    assert ttl_ms - ttl_ms // 10 <= lifetime <= ttl_ms + ttl_ms // 10
    assert lifetime == jittered_ttl(content_hash, ttl_ms)


def test_hashes_of_one_burst_do_not_expire_together() -> None:
    lifetimes = {jittered_ttl(f"{n * 7919 % 65536:04x}" + "0" * 60, 86_400_000) for n in range(100)}

    assert len(lifetimes) == 100
