"""Every topic of qrstream, declared once: name, key, value, partitions, clean-up, limits.

Created and checked from here by ``qrstream topics`` and by the worker at its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streams.settings import MOST_RETRIES, Settings

DAY_MS = 86_400_000
INPUT_LIMIT = 3 << 20
"""Bytes of the largest record on an input topic. The broker's default of 1 MB refuses a 2 MB request."""
HEADER_ROOM = 64 << 10
"""Bytes that dead letters, retries and changelogs may add to a record: their metadata headers."""
OUTPUT_LIMIT = INPUT_LIMIT + HEADER_ROOM
LEAST_RETRY_PARTITIONS = 8
"""Retries are spread over time by partition: with fewer, those of one burst come back in a few lumps."""


class Partitions(Enum):
    """Which setting gives a topic its partition count."""

    INPUT = "inputs and changelogs share one count, because a row is owned with the request's partition"
    OUTPUT = "outputs are keyed too, but nobody's ownership depends on their count"
    RETRY = "as outputs, but enough to spread returning requests over time"


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic as declared: a name without prefix, and what the broker must hold for it."""

    name: str
    key: str
    value: str
    partitions: Partitions
    config: tuple[tuple[str, str], ...]
    changelog: bool = False

    def full_name(self, settings: Settings) -> str:
        """The topic's name on the broker."""
        return f"{settings.app_id}-{self.name}-changelog" if self.changelog else settings.topic_prefix + self.name

    def partition_count(self, settings: Settings) -> int:
        """How many partitions the settings ask for."""
        if self.partitions is Partitions.INPUT:
            return settings.partitions
        least = LEAST_RETRY_PARTITIONS if self.partitions is Partitions.RETRY else 1
        return max(settings.output_partitions, least)

    def broker_config(self, settings: Settings) -> dict[str, str]:
        """Topic-level configuration as the broker names it."""
        config = dict(self.config)
        if self.changelog:
            config["delete.retention.ms"] = str(int(settings.changelog_delete_retention * 1000))
        if self.partitions is Partitions.INPUT and not self.changelog:
            config["retention.ms"] = str(int(settings.request_ttl * 1000))
        if self.partitions is Partitions.RETRY:
            # As long as an input keeps a request, from the moment at which it is due.
            config["retention.ms"] = str(int(settings.request_ttl * 1000) + 2 * max(settings.retry_delays_ms))
        if settings.replication > 1:
            config["min.insync.replicas"] = "2"
        return config


def _config(limit: int, **config: str) -> tuple[tuple[str, str], ...]:
    named = {name.replace("_", "."): value for name, value in config.items()}
    return tuple(sorted({"max.message.bytes": str(limit), "unclean.leader.election.enable": "false", **named}.items()))


# LogAppendTime: what is ever deleted for its age must be old by the broker's clock, which no worker or
# publisher with a wrong clock can move. A topic's timestamp type counts for records written after it is set.
_APPEND_TIME = {"message_timestamp_type": "LogAppendTime"}

REQUESTED = Topic("render.requested", "content hash, 64 hex characters", "RenderRequested", Partitions.INPUT, _config(INPUT_LIMIT, cleanup_policy="delete", **_APPEND_TIME))
INTAKE = Topic("render.intake", "tenant NUL idempotency key", "RenderSubmitted (Avro or JSON)", Partitions.INPUT, _config(INPUT_LIMIT, cleanup_policy="delete", **_APPEND_TIME))
COMPLETED = Topic("render.completed", "content hash", "RenderCompleted", Partitions.OUTPUT, _config(OUTPUT_LIMIT, cleanup_policy="delete", retention_ms=str(7 * DAY_MS)))
FAILED = Topic("render.failed", "content hash", "RenderFailed", Partitions.OUTPUT, _config(OUTPUT_LIMIT, cleanup_policy="delete", retention_ms=str(7 * DAY_MS)))
DEAD_LETTERS = Topic("render.dlq", "the original key", "the original bytes; metadata in headers", Partitions.OUTPUT, _config(OUTPUT_LIMIT, cleanup_policy="delete", retention_ms=str(90 * DAY_MS)))
# One fixed delay each (QR_RETRY_DELAYS), so that due times rise within a partition.
RETRIES: tuple[Topic, ...] = tuple(
    Topic(f"render.retry.{number}", "content hash", "the request's bytes; due time, attempt and errors in headers", Partitions.RETRY, _config(OUTPUT_LIMIT, cleanup_policy="delete", **_APPEND_TIME))
    for number in range(1, MOST_RETRIES + 1)
)
# Compacted: what was done with a letter counts for as long as anybody could replay the letter again.
DISPOSITIONS = Topic("render.dlq.dispositions", "the letter: topic, partition and offset, joined by hyphens", "DlqDisposition", Partitions.OUTPUT, _config(HEADER_ROOM, cleanup_policy="compact"))
# Never "compact,delete": delete would drop the live rows of keys that nobody writes any more.
RENDERS_CHANGELOG = Topic("renders", "row key", "row", Partitions.INPUT, _config(OUTPUT_LIMIT, cleanup_policy="compact", **_APPEND_TIME), changelog=True)
CLAIMS_CHANGELOG = Topic("claims", "row key", "row", Partitions.INPUT, _config(OUTPUT_LIMIT, cleanup_policy="compact", **_APPEND_TIME), changelog=True)

TOPICS: tuple[Topic, ...] = (REQUESTED, INTAKE, COMPLETED, FAILED, DEAD_LETTERS, DISPOSITIONS, RENDERS_CHANGELOG, CLAIMS_CHANGELOG, *RETRIES)
