"""One partition in memory, decided by the real decider with a renderer in this process."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.deciding.partition import Partition


@pytest.fixture
def executor_of_one() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


@pytest.fixture
def partition(executor_of_one: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> Partition:
    """With the artifacts in its rows."""
    return Partition(executor_of_one, monkeypatch)


@pytest.fixture
def partition_with_folder(executor_of_one: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Partition:
    """With the artifacts in a folder."""
    return Partition(executor_of_one, monkeypatch, artifact_store=tmp_path.as_uri())
