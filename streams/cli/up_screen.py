"""What ``qrstream up`` shows: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from processors.errors import TABLE
from processors.spec import validate
from processors.symbol import make_symbol
from schemas.events import RenderRequested
from streams.cli.drawing import print_symbol
from streams.cli.output import print_json
from streams.cli.words import counted
from streams.local_run.artifact_folder import ArtifactFolder
from streams.local_run.run_count import RunCount
from streams.settings import Settings, environment_name

_LINE_SECONDS = 2.0
"""Between two lines of progress where there is no terminal."""
_SOURCES = {
    "rendered": "rendered now",
    "cache": "answered from an earlier result",
    "stale": "answered from a result that is being refreshed",
}


_SHARED = ("topic_prefix", "app_id", "partitions", "output_partitions", "schema_registry")
"""Settings that another terminal needs as they are here."""


class UpScreen:
    """Everything on stdout; mistakes and warnings go to stderr elsewhere."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)
        self._bar: Progress | None = None
        self._task: Any = None
        self._said = 0.0
        self._shown = 0

    def line(self, subject: str, text: str) -> None:
        """One step: what, and where it is."""
        self._console.print(Text.assemble((f"{subject:<10}", "bold"), text))

    def refusal(self, text: str) -> None:
        """A line of the file that could not be published."""
        self._console.print(f"{'':<10}{text}", markup=False, style="yellow")

    def progress(self, answered: int, awaited: int) -> None:
        """How many requests have their outcome."""
        if not self._console.is_terminal:
            now = time.monotonic()
            if answered != self._shown and now - self._said >= _LINE_SECONDS:
                self._said, self._shown = now, answered
                self.line("outcomes", f"{answered:,} of {awaited:,}")
            return
        if self._bar is None:
            self._bar = Progress(
                TextColumn("[bold]outcomes [/bold]"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=self._console, transient=False
            )
            self._task = self._bar.add_task("", total=awaited)
            self._bar.start()
        self._bar.update(self._task, completed=answered, total=awaited)

    def close(self) -> None:
        """End the bar; the terminal's cursor is back."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def outcomes(self, count: RunCount) -> None:
        """The table of what has become of the requests."""
        self.close()
        table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
        table.add_column("outcome")
        table.add_column("requests", justify="right")
        table.add_column("meaning", overflow="fold")
        for source, number in sorted(count.completed_by_source().items(), key=lambda item: -item[1]):
            table.add_row(f"completed {source}", f"{number:,}", _SOURCES.get(source, ""), style="green")
        for code, number in sorted(count.failed_by_code().items(), key=lambda item: (-item[1], item[0])):
            table.add_row(f"failed {code}", f"{number:,}", TABLE[code].meaning if code in TABLE else "", style="red")
        if count.duplicates:
            table.add_row("dropped", f"{count.duplicates:,}", "repeats of a request id: one outcome each")
        self._console.print()
        self._console.print(table)

    def symbol(self, first: tuple[RenderRequested, str] | None) -> None:
        """The first symbol of the file."""
        if first is None:
            return
        request, content_hash = first
        self._console.print()
        print_symbol(make_symbol(validate(request)).modules.tolist())
        self._console.print(f"the first symbol, {content_hash[:12]}…", markup=False)

    def artifacts(self, folder: ArtifactFolder, count: RunCount) -> None:
        """Where the files are."""
        completed = count.completed_by_source().total()
        self._console.print()
        self.line("artifacts", f"{counted(folder.count, 'file')} for {counted(completed, 'completed request')} in {folder.folder}/, named by content hash")

    def how_to_go_on(self, settings: Settings, content_hash: str | None) -> None:
        """Commands to copy."""
        command = _own_command()
        self._console.print()
        self.line("up", "everything runs until Ctrl-C. In another terminal, in this folder:")
        exported = {"broker": settings.broker, **{name: getattr(settings, name) for name in _SHARED if environment_name(name) in os.environ}}
        commands = ["export " + " ".join(f"{environment_name(name)}={value}" for name, value in exported.items())]
        commands += [f"echo '{{\"content\": \"Hello\"}}' | {command} publish -", f"{command} tail completed --from-beginning"]
        if content_hash is not None:
            commands += [f"{command} show {content_hash} -o first.png"]
        commands += [f"{command} --help"]
        for line in commands:
            self._console.print(f"  {line}", markup=False)

    def json(self, summary: dict[str, Any]) -> None:
        """The last line of a run that ends by itself."""
        print_json(summary)


def _own_command() -> str:
    """How this user can call us: by name, by the path of the virtual environment, or as a module."""
    if shutil.which("qrstream"):
        return "qrstream"
    beside = os.path.join(os.path.dirname(sys.executable), "qrstream")  # noqa: PTH118, PTH120
    if os.path.exists(beside):  # noqa: PTH110
        return os.path.relpath(beside)
    return f"{sys.executable} -m streams.cli.main"
