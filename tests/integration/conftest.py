"""A stream of its own for each test that runs workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.broker import Names, unique_names
from tests.support.stream_run import StreamRun, stream_run


@pytest.fixture
def stream(broker: str, names: Names, tmp_path: Path) -> Iterator[StreamRun]:
    """Topics made, nothing running yet."""
    with stream_run(broker, names, tmp_path) as run:
        yield run


@pytest.fixture
def new_stream(broker: str, tmp_path: Path) -> Iterator[Callable[..., StreamRun]]:
    """Makes streams with settings of their own: `new_stream(QR_BATCH_RECORDS="50")`."""
    with ExitStack() as stack:
        made: list[StreamRun] = []

        def make(**settings: str) -> StreamRun:
            folder = tmp_path / f"stream-{len(made)}"
            made.append(stack.enter_context(stream_run(broker, unique_names(), folder, **settings)))
            return made[-1]

        yield make
