"""A stream of its own for each test that runs workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from streams.rendering.renderer import Renderer
from streams.settings import load_settings
from tests.support import deadly_render_child
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


@pytest.fixture
def new_renderer(tmp_path: Path) -> Iterator[Callable[..., Renderer]]:
    """Makes renderers whose child dies as contents say: `new_renderer(render_memory=…)`.

    Bound 3 s, a hundred times a render on a slow machine, so that only what hangs reaches it.
    """
    with ExitStack() as stack:

        def make(**settings: object) -> Renderer:
            renderer = Renderer(load_settings(**{"render_bound": 3.0, **settings}))
            renderer.command = deadly_render_child.command(tmp_path)
            return stack.enter_context(closing(renderer))

        yield make


@pytest.fixture
def renderer(new_renderer: Callable[..., Renderer]) -> Renderer:
    return new_renderer()
