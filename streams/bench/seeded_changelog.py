"""A changelog as a worker leaves it after many contents, without the time that rendering them takes."""

from __future__ import annotations

import time

from confluent_kafka import Producer

from processors.canonical import identify
from processors.partitioner import partition_for
from processors.render import render
from processors.row_keys import artifact_key, marker_key, result_key
from schemas.codec import Codec
from schemas.events import MarkerRow
from streams import kafka_clients
from streams.bench.stream import MeasurementFailed, content, over_hashes
from streams.client import new_request
from streams.deciding import outcomes
from streams.ownership.expiring_rows import expiring
from streams.settings import Settings
from streams.topics import RENDERS_CHANGELOG


def seed_changelog(settings: Settings, hashes: int) -> None:
    """Write result, artifact and one marker of so many contents, each into its partition.

    The contents are those of `over_hashes`; all have the artifact of the first, so only a measurement may read them.
    """
    codec, lifetimes = Codec(), outcomes.Lifetimes.of(settings)
    now_ms = time.time_ns() // 1_000_000
    spec, _ = identify(new_request(content(0), request_id="seed"))
    rendered = render(spec)
    changelog = RENDERS_CHANGELOG.full_name(settings)
    producer = Producer(kafka_clients.producer(settings, **{"linger.ms": 20}), logger=kafka_clients.logger)
    for request in over_hashes(hashes, hashes):
        spec, name = identify(request)
        partition = partition_for(name.encode(), settings.partitions)
        row = outcomes.ready_row(
            spec, name, rendered, reference=outcomes.result_ref(changelog, partition, name), lifetimes=lifetimes, now_ms=now_ms, before=None
        )
        marker = MarkerRow(generation=0, attempt=1, outcome="completed", event_id=name[:32], expires_at=now_ms + lifetimes.request)
        rows = {
            result_key(name): expiring(codec.encode(row), row.expires_at),
            artifact_key(name): rendered.artifact,
            marker_key(name.encode(), request.tenant, request.request_id): expiring(codec.encode(marker), marker.expires_at),
        }
        for key, value in rows.items():
            kafka_clients.produce(producer, changelog, value, key, partition)
    if producer.flush(60.0):
        raise MeasurementFailed("the changelog could not be filled: the broker did not take all rows within 60 s")
