"""Faults on purpose: which calls fail is known beforehand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from streams.artifacts.errors import StoreUnavailable
from streams.artifacts.faults import StoreFaults
from streams.artifacts.opening import open_store
from streams.artifacts.store import ArtifactStore
from streams.settings import SettingsError, load_settings
from tests.support.artifacts import CHECKSUM, CONTENT, checksum_of, key_of

HASHES = [checksum_of(f"content {number}".encode()) for number in range(10_000)]


def opened(folder: Path, **faults: object) -> ArtifactStore:
    store = open_store(load_settings(artifact_store=folder.as_uri(), **faults))
    assert store is not None
    return store


def fails(store: ArtifactStore, key: str) -> bool:
    try:
        store.put(key, CONTENT, CHECKSUM)
    except StoreUnavailable as exc:
        assert exc.kind == "injected"  # noqa: PT017  # the other outcome is no failure of the test
        return True
    return False


def test_three_in_ten_fail_at_every_attempt_independently() -> None:
    faults = StoreFaults(0.3, 0, (), 1)
    first = [faults.fail(each, 1) for each in HASHES]
    second = [faults.fail(each, 2) for each in HASHES]
    assert (sum(first), sum(second), sum(a and b for a, b in zip(first, second, strict=True))) == (2984, 3010, 878)


@pytest.mark.parametrize(("rate", "failed"), [(0.0, 0), (1.0, 10_000)])
def test_none_and_all(rate: float, failed: int) -> None:
    assert sum(StoreFaults(rate, 0, (), 0).fail(each, 1) for each in HASHES) == failed


def test_the_store_fails_exactly_the_puts_that_were_foretold(tmp_path: Path) -> None:
    store = opened(tmp_path, fault_store_rate=0.5, fault_seed=7)
    foretold = StoreFaults(0.5, 0, (), 7)
    keys = {checksum_of(name.encode()): key_of(name) for name in map(str, range(20))}
    for attempt in (1, 2, 3):
        for content_hash, key in keys.items():
            assert fails(store, key) == foretold.fail(content_hash, attempt)
    assert store.counts.failures == {("put", "injected"): sum(foretold.fail(each, attempt) for each in keys for attempt in (1, 2, 3))}


def test_only_the_chosen_hashes_fail(tmp_path: Path) -> None:
    chosen, other = key_of("chosen"), key_of("other")
    store = opened(tmp_path, fault_store_rate=1, fault_store_hashes=f"{checksum_of(b'chosen')[:8]},00000000")
    assert fails(store, chosen)
    assert not fails(store, other)
    assert store.get(other, CHECKSUM) == CONTENT


def test_a_slow_store_is_late_and_beyond_its_patience_it_times_out(tmp_path: Path) -> None:
    key = key_of("one")
    begun = time.monotonic()
    opened(tmp_path, fault_store_seconds=0.1).put(key, CONTENT, CHECKSUM)
    assert time.monotonic() - begun >= 0.1
    with pytest.raises(StoreUnavailable) as raised:
        opened(tmp_path, fault_store_seconds=30, store_timeout=0.2).get(key, CHECKSUM)
    assert raised.value.kind == "timeout"


def test_no_request_begins_in_the_second_half_of_a_call(tmp_path: Path) -> None:
    key = key_of("one")
    opened(tmp_path).put(key, CONTENT, CHECKSUM)
    slow = opened(tmp_path, fault_store_seconds=0.9, store_timeout=2)
    assert slow.get(key, CHECKSUM) == CONTENT
    with pytest.raises(StoreUnavailable, match="has used up 2 s") as raised:
        slow.put(key, CONTENT, CHECKSUM)  # refused by the link after 0.9 s, and then it would look
    assert raised.value.kind == "timeout"


@pytest.mark.parametrize("fault", ["QR_FAULT_STORE_RATE", "QR_FAULT_STORE_SECONDS", "QR_FAULT_SEED"])
def test_production_refuses_faults(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QR_MODE", "production")
    monkeypatch.setenv("QR_ARTIFACT_STORE", "file:///srv/qr")
    monkeypatch.setenv(fault, "1")
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert str(raised.value) == f"QR_MODE=production refuses fault injection: unset {fault}"


def test_faults_of_a_store_that_is_not_there_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"^QR_FAULT_STORE_\* needs QR_ARTIFACT_STORE"):
        load_settings(fault_store_rate=0.3)
