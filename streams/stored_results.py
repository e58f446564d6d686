"""What the stream keeps of content hashes, read from the compacted changelog: no worker is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from processors.partitioner import partition_for
from processors.row_keys import artifact_key, result_key
from schemas.codec import Codec
from schemas.events import ResultRow
from streams.artifacts.errors import ArtifactAbsent
from streams.artifacts.opening import open_store
from streams.artifacts.store import ArtifactStore
from streams.ownership.expiring_rows import without_expiry
from streams.settings import Settings
from streams.topic_reader import TopicReader
from streams.topics import RENDERS_CHANGELOG


@dataclass(frozen=True, slots=True)
class StoredResult:
    """One content hash: its row, and the artifact's bytes where there are any, from the table or from the artifact store."""

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
        SettingsError, StoreUnreachable, StoreUnavailable: the artifact store cannot be read.
    """
    by_partition: dict[int, list[str]] = defaultdict(list)
    for content_hash in content_hashes:
        by_partition[partition_for(content_hash.encode(), settings.partitions)].append(content_hash)
    topic = RENDERS_CHANGELOG.full_name(settings)
    codec = Codec()
    store = open_store(settings)
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
                row = codec.decode(without_expiry(raw), ResultRow)
                artifact = rows.get(artifact_key(content_hash))
                found[content_hash] = StoredResult(content_hash, partition, row, _from_store(store, row) if artifact is None else artifact)
    return found


def _from_store(store: ArtifactStore | None, row: ResultRow) -> bytes | None:
    """What the artifact store has of a ready row, whole."""
    key = store.key_of(row.result_ref) if store is not None and row.status == "ready" else None
    if store is None or key is None:
        return None
    try:
        return store.get(key, row.checksum)
    except ArtifactAbsent:
        return None
