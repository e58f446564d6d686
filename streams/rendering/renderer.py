"""Specs in, artifacts or errors out, in order, rendered by a child process that may die of them.

A render over its bound: the child is killed, the spec fails as render_timeout, the rest go on in a new child.
A child that dies at a spec: the spec is tried again, alone, in a new child, MOST_TRIES times in all; then it fails as
renderer_crash. Alone, so that a spec which leaves a broken child behind cannot be mistaken for the one after it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from typing import Final

import structlog

from processors.canonical import content_hash
from processors.errors import RenderError, RenderRefused
from processors.render import Rendered
from processors.spec import RenderSpec
from streams.exit_codes import ExitCode
from streams.ownership.errors import OwnershipLost
from streams.rendering.child_process import ChildDied, ChildProcess, ChildTerms, ChildUnfit, RenderOverdue
from streams.rendering.faults import RenderFaults
from streams.settings import Settings, process_settings

log = structlog.get_logger(__name__)

MOST_TRIES: Final = 3
"""One may be an accident (the kernel short of memory, an operator's kill -9), two a coincidence."""
_MOST_STARTS: Final = 3

Result = Rendered | RenderError


class RendererUnavailable(OwnershipLost):
    """No child can be started, so nothing can be rendered: the process ends, and its restart tries again."""

    exit_code = ExitCode.RENDERER


class RendererUnfit(OwnershipLost):
    """Other bytes than a profile has fixed are made here: this worker must answer nobody."""

    exit_code = ExitCode.OTHER_BYTES


class Renderer:
    """Owns one child process; safe to share between threads, which take turns.

    Attributes:
        command: what is run as the child; tests put a program of their own here that ends in `child.main()`.
    """

    # -P: a file random.py in the working folder is not ours to import. The search path is the worker's own.
    command: Sequence[str] = (sys.executable, "-P", "-m", "streams.rendering.child")

    def __init__(self, settings: Settings) -> None:
        """Nothing is started yet."""
        faults = RenderFaults.of(settings)
        if faults is not None:
            log.warning("fault_injection", **asdict(faults))
        self._bound = settings.render_bound
        self._memory = settings.render_memory
        self._scan_policy = settings.scan_policy
        self._faults = None if faults is None else asdict(faults)
        self._turn = threading.Lock()
        self._child: ChildProcess | None = None
        self._proven: str | None = None
        # Linux ends a child when the thread that started it ends (prctl(2)), so one thread starts them all and stays.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="renderer-start")

    @property
    def pid(self) -> int | None:
        """Of the child, None if none has been started or the last one has ended."""
        child = self._child
        return child.pid if child is not None and child.alive else None

    def start(self) -> None:
        """Start the child, which makes the golden vectors first unless the same files have made them.

        Raises:
            RendererUnavailable: it cannot be started.
            RendererUnfit: it makes other bytes.
        """
        with self._turn:
            self._ready_child()

    def close(self) -> None:
        """End the child. Waits for a render in progress."""
        with self._turn:
            if self._child is not None:
                self._child.stop()
                self._child = None
            self._starter.shutdown()

    def render_all(
        self, specs: Sequence[RenderSpec], *, deaths: Sequence[int] | None = None, go_on: Callable[[Result], bool] | None = None
    ) -> list[Result]:
        """Render in order; blocking.

        Args:
            specs: what to render.
            deaths: for each spec, how often something has died of it already; none by default.
            go_on: asked with each result; once it says no, nothing more is begun.

        Returns:
            A result for each spec, or for the first ones of them (at least one) if `go_on` said no.

        Raises:
            RendererUnavailable: the child cannot be started.
            RendererUnfit: it makes other bytes: the first one, or one of files that were changed since.
        """
        with self._turn:
            work = _Work(specs, deaths, go_on)
            while not work.finished:
                if work.tries >= MOST_TRIES:
                    work.add(RenderRefused("renderer_crash"))
                    continue
                child = self._ready_child()
                try:
                    for result in child.answers(work.asked()):
                        work.add(result)
                except RenderOverdue:
                    log.warning("render_overdue", bound_s=self._bound, content_hash=content_hash(work.spec))
                    work.add(RenderRefused("render_timeout"))
                except ChildDied as exc:
                    work.died()
                    log.warning("renderer_died", reason=str(exc), tries=work.tries, content_hash=content_hash(work.spec))
            return work.results

    def _ready_child(self) -> ChildProcess:
        """The child, started anew if it has ended meanwhile: no spec is to blame for that."""
        if self._child is not None and not self._child.alive:
            self._child.kill()
            self._child = None
        if self._child is None:
            self._child = self._started()
            if not self._child.memory_bounded:
                log.warning("render_memory_unbounded", reason="this system does not bound a process's address space")
        return self._child

    def _started(self) -> ChildProcess:
        terms = ChildTerms(self.command, self._bound, self._memory, self._faults, self._scan_policy, proven=self._proven)
        reason = ""
        for _ in range(_MOST_STARTS):
            try:
                child = self._starter.submit(ChildProcess, terms).result()
                self._proven = child.code  # once is enough for the same files; not for those of an upgrade under us
                return child
            except ChildUnfit as exc:
                raise RendererUnfit(
                    f"{exc}; this worker must not join: install the pinned requirements (requirements.txt, with hashes), and report it if they are"
                ) from exc
            except (ChildDied, OSError) as exc:
                # The last line of a traceback is the one that says what went wrong.
                reason = (str(exc).strip().splitlines() or [type(exc).__name__])[-1]
                log.warning("renderer_start_failed", reason=reason)
        raise RendererUnavailable(
            f"the process that renders cannot be started ({reason}); look for too little memory or too few processes, and at QR_RENDER_MEMORY"
        )


class _Work:
    """How far one call has come."""

    def __init__(self, specs: Sequence[RenderSpec], deaths: Sequence[int] | None, go_on: Callable[[Result], bool] | None) -> None:
        self.results: list[Result] = []
        self._specs = specs
        self._tries = [0] * len(specs) if deaths is None else list(deaths)
        if len(self._tries) != len(specs):
            raise ValueError(f"{len(specs)} specs with {len(self._tries)} counts of deaths")
        self._go_on = go_on
        self._enough = False

    @property
    def finished(self) -> bool:
        return self._enough or len(self.results) == len(self._specs)

    @property
    def spec(self) -> RenderSpec:
        """The one that is waited for."""
        return self._specs[len(self.results)]

    @property
    def tries(self) -> int:
        """Deaths at the one that is waited for."""
        return self._tries[len(self.results)]

    def add(self, result: Result) -> None:
        self.results.append(result)
        if self._go_on is not None and not self._go_on(result):
            self._enough = True

    def died(self) -> None:
        self._tries[len(self.results)] += 1

    def asked(self) -> Iterator[tuple[RenderSpec, int]]:
        """What to send, with the attempt's number: one that somebody died of alone, others until there is enough."""
        for index in range(len(self.results), len(self._specs)):
            alone = self._tries[index] > 0
            if self._enough or (alone and index > len(self.results)):
                return
            yield self._specs[index], self._tries[index] + 1
            if alone:
                return


@cache
def process_renderer() -> Renderer:
    """The renderer of this process."""
    return Renderer(process_settings())
