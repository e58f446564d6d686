"""A decider without a process of its own for renders: what is made is the same, and a test need not wait for a start."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import mkdtemp

from processors.errors import RenderError
from processors.render import Rendered, render
from processors.spec import RenderSpec
from schemas.codec import Codec
from streams.artifacts.store import ArtifactStore
from streams.deciding.carry_out import Decider
from streams.deciding.side_effects import SideEffects
from streams.rendering.journal import Journal
from streams.settings import Settings


class InProcessRenderer:
    """Renders in the caller's thread.

    Attributes:
        fails_with: raised in place of the next renders, one each.
        rendered: how many artifacts were made.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        """`seconds` is what each render takes longer."""
        self._seconds = seconds
        self.fails_with: list[RenderError] = []
        self.rendered = 0

    def render_all(self, specs: Sequence[RenderSpec], *, go_on: Callable[[Rendered | RenderError], bool] | None = None) -> list[Rendered | RenderError]:
        """A result for each spec."""
        results = []
        for spec in specs:
            results.append(self._one(spec))
            if go_on is not None and not go_on(results[-1]):
                break
        return results

    def _one(self, spec: RenderSpec) -> Rendered | RenderError:
        if self.fails_with:
            return self.fails_with.pop(0)
        time.sleep(self._seconds)
        try:
            made = render(spec)
        except RenderError as error:
            return error
        self.rendered += 1
        return made


def in_process_decider(settings: Settings, codec: Codec, renderer: InProcessRenderer | None = None, store: ArtifactStore | None = None) -> Decider:
    """A decider with a journal in a new folder."""
    effects = SideEffects(renderer or InProcessRenderer(), store, ThreadPoolExecutor(4))
    return Decider(settings, codec, effects, Journal(Path(mkdtemp(prefix="qrstream-journal-"))))
