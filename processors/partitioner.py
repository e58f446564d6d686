"""The partition of a key, as Kafka's Java client computes it.

Kafka `org.apache.kafka.common.utils.Utils.murmur2` and `toPositive`; librdkafka
calls it `murmur2_random`. Every producer of a keyed input should use it.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF
_WORD: Final = 4

VECTORS: Final[tuple[tuple[bytes, int, int], ...]] = (
    (b"21", 8, 4),
    (b"foobar", 8, 6),
    (b"a-little-bit-long-string", 8, 0),
    (b"a-little-bit-longer-string", 8, 3),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", 8, 5),
    (b"a", 8, 4),
    (b"abc", 8, 3),
    (b"\x00\xff\x80", 8, 3),
    (b"default\x00order-17", 8, 3),
    (b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 8, 4),
    (b"0000000000000000000000000000000000000000000000000000000000000000", 8, 7),
)
"""Key, partitions, partition. The first five are those of Kafka's own UtilsTest; a producer that
disagrees with one of them partitions by something else."""


def murmur2(key: bytes) -> int:
    """Return the 32-bit murmur2 of a key, unsigned."""
    length = len(key)
    words = length // _WORD
    multiplier, mask = _M, _MASK  # locals: the loop runs 16 times for a content hash
    value = _SEED ^ length
    for word in struct.unpack_from(f"<{words}I", key):
        mixed = word * multiplier & mask
        value = (value * multiplier ^ (mixed ^ mixed >> 24) * multiplier) & mask
    tail = key[words * _WORD :]
    if tail:
        value = (value ^ int.from_bytes(tail, "little")) * multiplier & mask
    value = (value ^ value >> 13) * multiplier & mask
    return value ^ value >> 15


@lru_cache(maxsize=8_192)
def partition_for(key: bytes, partitions: int) -> int:
    """Return the partition of a non-empty key in a topic with `partitions` partitions."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
