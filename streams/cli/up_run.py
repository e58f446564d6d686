"""The course of ``qrstream up``: start, publish, watch, tell, stay, stop."""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType

from processors.errors import RenderError
from schemas.events import RenderCompleted, RenderRequested
from streams import topic_admin
from streams.cli.failure import CommandFailed, say, say_error
from streams.cli.files import open_lines
from streams.cli.up_screen import UpScreen
from streams.client import Outcomes, Published, PublishFailed, RenderClient
from streams.exit_codes import ExitCode
from streams.local_broker import open_broker
from streams.local_run.artifact_folder import ArtifactFolder
from streams.local_run.run_count import RunCount, marked, new_mark
from streams.local_run.worker_process import WorkerProcess
from streams.request_lines import read_lines
from streams.settings import Settings

SILENT_SECONDS = 120.0
"""Without any outcome for so long something is wrong that waiting does not mend."""
_LOOK_SECONDS = 0.2
_MOST_RESTARTS = 5
"""Restarts in a row without an outcome between them; more would only repeat the same end."""
_REFUSALS_SHOWN = 5


class _Stopped(Exception):
    """Ctrl-C or SIGTERM."""


class UpRun:
    """One run; what it starts it stops, in the opposite order."""

    def __init__(self, settings: Settings, file: Path | None, *, once: bool) -> None:
        self._settings = settings
        self._file = file
        self._once = once
        self._mark = new_mark()
        self._count = RunCount(self._mark)
        self._screen = UpScreen()
        self._artifacts = ArtifactFolder(settings.data_dir / "artifacts")
        self._restarts: Counter[str] = Counter()
        self._first: tuple[RenderRequested, str] | None = None
        self._began = self._ended = 0.0
        self._published_all = False
        self._sent: deque[tuple[int, RenderRequested]] = deque()

    def run(self) -> int:
        """Everything, until the end or Ctrl-C; the exit code."""
        stopping = contextlib.ExitStack()
        with _stop_signals():
            try:
                self._run(stopping)
            except _Stopped:
                self._screen.line("stopping", "what was started here")
            finally:
                # From here on another Ctrl-C changes nothing: stopping is under way, and bounded.
                _ignore_stop_signals()
                self._screen.close()
                stopping.close()
        answered = self._count.complete and self._count.surplus == 0 and self._published_all
        if self._once and self._published_all:
            self._screen.json(self._count.summary(self._ended - self._began))
        return ExitCode.OK if answered else ExitCode.INCOMPLETE

    def _run(self, stopping: contextlib.ExitStack) -> None:
        if self._file is not None:
            with open_lines(self._file):  # a wrong name is said before anything is started
                pass
        self._make_data_dir()
        settings = self._start_broker(stopping)
        made = topic_admin.create(settings)
        warnings = [line for line in topic_admin.check(settings) if self._settings.broker is not None or line != topic_admin.ALONE]
        if warnings:
            say(f"warning: {'; '.join(warnings)}")
        self._screen.line("topics", f"{len(made)} created" if made else "there already")
        # The forwarder's own folder is `delay` in its data folder, the worker's is its data folder.
        children = [self._start(settings, stopping, "delay", settings.data_dir), self._start(settings, stopping, "worker", settings.data_dir / "worker")]
        if self._file is not None:
            client = stopping.enter_context(RenderClient(settings, source="/qrstream/up"))
            self._publish_and_watch(client, self._file, children)
            self._artifacts.fetch(settings)
            self._screen.outcomes(self._count)
            self._screen.symbol(self._first)
            self._screen.artifacts(self._artifacts, self._count)
        else:
            self._published_all = True
        if not self._once:
            self._screen.how_to_go_on(settings, self._first[1] if self._first else None)
            while True:
                self._look_after(children)
                time.sleep(_LOOK_SECONDS)

    def _start(self, settings: Settings, stopping: contextlib.ExitStack, command: str, data_dir: Path) -> WorkerProcess:
        child = WorkerProcess(broker=settings.broker or "", data_dir=data_dir, log=settings.data_dir / "logs" / f"{command}.log", command=command)
        stopping.callback(child.stop)
        child.start()
        self._screen.line(command, f"pid {child.pid}, log in {child.log}")
        return child

    def _make_data_dir(self) -> None:
        folder = self._settings.data_dir
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "logs").mkdir(exist_ok=True)
        except OSError as exc:
            raise CommandFailed(ExitCode.DATA_FOLDER, f"{folder} cannot be written: {exc.strerror}; set QR_DATA_DIR to a folder of yours") from exc

    def _start_broker(self, stopping: contextlib.ExitStack) -> Settings:
        if self._settings.broker is not None:
            self._screen.line("broker", f"{self._settings.broker} (QR_BROKER)")
            return self._settings
        folder = self._settings.data_dir / "broker"
        self._screen.line("broker", "starting (the first time, Apache Kafka is fetched) …")
        broker = stopping.enter_context(open_broker(folder, address=None))
        self._screen.line("broker", f"Apache Kafka on {broker}")
        return self._settings.model_copy(update={"broker": broker})

    def _publish_and_watch(self, client: RenderClient, file: Path, children: list[WorkerProcess]) -> None:
        outcomes = client.outcomes()
        self._began = self._ended = time.monotonic()
        with open_lines(file) as lines:
            for result in client.publish_all(self._requests(lines)):
                number, request = self._sent.popleft()
                if isinstance(result, Published):
                    self._count.publish(result)
                    if result.content_hash is not None and self._first is None:
                        self._first = (request, result.content_hash)
                elif isinstance(result, PublishFailed):
                    raise result
                else:
                    self._refuse(number, result)
                if self._count.awaited % 100 == 0:
                    self._take(outcomes, 0)
        self._published_all = True
        refused = self._count.refused.total()
        lines_read = self._count.awaited + self._count.duplicates + refused
        self._screen.line("requests", f"{lines_read:,} from {file}{f', {refused} refused' if refused else ''}; the ids of this run end with {self._mark}")
        heard = time.monotonic()
        while not self._count.complete:
            if self._take(outcomes, _LOOK_SECONDS):
                heard = time.monotonic()
                self._restarts.clear()
            self._look_after(children)
            if time.monotonic() - heard > SILENT_SECONDS:
                missing = self._count.awaited - self._count.answered
                raise CommandFailed(ExitCode.INCOMPLETE, f"no outcome for {SILENT_SECONDS:.0f} s and {missing} still missing; {children[-1].log} says what the worker does")
        if self._count.surplus:
            say_error("incomplete", f"{self._count.surplus} requests have more than one outcome: this must not happen; please report it with {children[-1].log}")

    def _requests(self, lines: Iterable[bytes]) -> Iterator[RenderRequested]:
        for number, read in read_lines(lines):
            if isinstance(read, RenderError):
                self._refuse(number, read)
                continue
            try:
                request = marked(read, self._mark)
            except RenderError as refusal:
                self._refuse(number, refusal)
                continue
            self._sent.append((number, request))
            yield request

    def _refuse(self, number: int, refusal: RenderError) -> None:
        self._count.refuse(refusal)
        shown = self._count.refused.total()
        if shown <= _REFUSALS_SHOWN:
            self._screen.refusal(f"line {number} refused: {refusal.code}: {refusal.message}")
        elif shown == _REFUSALS_SHOWN + 1:
            self._screen.refusal("more lines refused; `qrstream publish` names each")

    def _take(self, outcomes: Outcomes, seconds: float) -> int:
        taken = 0
        for message, outcome in outcomes.poll(seconds):
            if self._count.outcome(message.key(), outcome):
                taken += 1
                if isinstance(outcome, RenderCompleted):
                    self._artifacts.keep(outcome)
        if taken:
            self._ended = time.monotonic()
        self._screen.progress(self._count.answered, self._count.awaited)
        return taken

    def _look_after(self, children: list[WorkerProcess]) -> None:
        for child in children:
            ending = child.ended()
            if ending is None:
                continue
            self._restarts[child.command] += 1
            if not ending.restartable or self._restarts[child.command] > _MOST_RESTARTS:
                raise CommandFailed(ending.exit_code, f"the {child.command} ended with {ending}; its log is {child.log}", code=child.command)
            child.start()
            self._screen.line(child.command, f"ended with {ending}; started again as pid {child.pid}")


@contextlib.contextmanager
def _stop_signals() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise _Stopped at once, and are the caller's again afterwards."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _Stopped

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handling in before.items():
            signal.signal(number, handling)


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _ignore_stop_signals() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
