"""What the stream keeps of content hashes, read from the compacted changelog: no worker is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from processors.partitioner import partition_for
from processors.row_keys import artifact_key, result_key
from schemas.events import ResultRow
from streams.event_codec import event_codec
from streams.settings import Settings
from streams.topic_reader import TopicReader
from streams.topics import RENDERS_CHANGELOG


@dataclass(frozen=True, slots=True)
class StoredResult:
    """One content hash: its row, and the artifact's bytes where the `kafka` store keeps them."""

    content_hash: str
    partition: int
    row: ResultRow
    artifact: bytes | None


def read_results(settings: Settings, content_hashes: Iterable[str]) -> dict[str, StoredResult]:
    """The stored results of these hashes; a hash without one is absent.

    Reads each partition concerned from its beginning to its end: some 200,000 rows a second.

    Raises:
        BrokerUnreachable, TopicMissing: nothing can be read.
        UndecodableError: a row is of a newer release.
    """
    by_partition: dict[int, list[str]] = defaultdict(list)
    for content_hash in content_hashes:
        by_partition[partition_for(content_hash.encode(), settings.partitions)].append(content_hash)
    topic = RENDERS_CHANGELOG.full_name(settings)
    codec = event_codec(settings)
    found: dict[str, StoredResult] = {}
    for partition, wanted in by_partition.items():
        keys = {key(content_hash) for content_hash in wanted for key in (result_key, artifact_key)}
        rows: dict[bytes, bytes | None] = {}
        with TopicReader(settings, [topic], from_beginning=True, partition=partition) as reader:
            for message in reader.to_end():
                key = bytes(message.key() or b"")
                if key in keys:
                    rows[key] = message.value()
        for content_hash in wanted:
            raw = rows.get(result_key(content_hash))
            if raw is not None:
                found[content_hash] = StoredResult(content_hash, partition, codec.decode(raw, ResultRow), rows.get(artifact_key(content_hash)))
    return found
