"""When a request that failed for a passing reason is tried again, and where it waits until then.

Exponential backoff over topics of one fixed delay each, so that every wait is a FIFO: a partition's due
times rise by themselves. Jitter is therefore the partition's and not the record's; a record's own would be
flattened to the greatest ahead of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

_SPREAD_DIVISOR: Final = 5
"""The last partition waits a fifth longer than the first: failures of one burst return over that time."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is tried, and how long it waits in between.

    delays_ms: of the retry topics 1, 2, …, in milliseconds.
    """

    delays_ms: tuple[int, ...]

    @property
    def attempts(self) -> int:
        """Tries in all, the first one included."""
        return len(self.delays_ms) + 1


class Parking(NamedTuple):
    """Where a request waits and until when; topics count from 1, partitions from 0, milliseconds since the epoch."""

    topic_number: int
    partition: int
    due_ms: int


def after_failure(attempt: int, now_ms: int, policy: RetryPolicy, partitions: int, draw: int) -> Parking | None:
    """Return where the request waits after attempt number `attempt` has failed; None when its attempts are used up.

    attempt counts from 1; a smaller one, as a stranger's header may say, is the first. partitions: of
    each retry topic. draw: any whole number, drawn at random for each request; it chooses the partition.
    """
    number = max(attempt, 1)
    if number >= policy.attempts:
        return None
    partition = draw % partitions
    return Parking(number, partition, now_ms + waiting_ms(policy.delays_ms[number - 1], partition, partitions))


def waiting_ms(delay_ms: int, partition: int, partitions: int) -> int:
    """Return how long a partition's records wait: delay x (1 + 0.2 x partition / (partitions - 1)), in whole milliseconds."""
    if partitions == 1:
        return delay_ms
    return delay_ms + delay_ms * partition // (_SPREAD_DIVISOR * (partitions - 1))
