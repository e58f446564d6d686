"""Options that the commands share, and the selection that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from streams.dead_letters.selection import Selection
    from streams.settings import Settings

Letters = Annotated[list[str] | None, typer.Argument(metavar="LETTER", help="Letters by name, as `dlq list` shows them: 3-17, or <topic>-3-17.", show_default=False)]
Reasons = Annotated[list[str] | None, typer.Option("--reason", metavar="CODE", help="Only with this error code; may be given more than once.", show_default=False)]
Tenants = Annotated[list[str] | None, typer.Option("--tenant", metavar="TENANT", help="Only of this tenant; may be given more than once.", show_default=False)]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Failed since then: 30m, 24h, 7d ago, or an instant, 2026-01-31T12:00Z.", show_default=False)]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Failed before then.", show_default=False)]
All = Annotated[bool, typer.Option("--all/--open", help="Also what was replayed or discarded, or open letters only.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


def selection_of(  # one for each option
    settings: Settings, names: Sequence[str] | None, reasons: Sequence[str] | None, tenants: Sequence[str] | None, since: str | None, until: str | None, *, settled: bool
) -> Selection:
    """What the options mean.

    Raises:
        CommandFailed: one of them means nothing.
    """
    import time

    from streams.dead_letters.selection import Selection, instant_of

    now_ms = time.time_ns() // 1_000_000
    try:
        begins = None if since is None else instant_of(since, now_ms)
        ends = None if until is None else instant_of(until, now_ms)
    except ValueError as exc:
        raise _usage(str(exc)) from None
    if begins is not None and ends is not None and begins >= ends:
        raise _usage("--since must be before --until")
    for reason in reasons or ():
        _known(reason)
    places = tuple(place(settings, name) for name in names) if names else None
    return Selection(frozenset(reasons or ()), frozenset(tenants or ()), begins, ends, settled, places)


def place(settings: Settings, name: str) -> tuple[int, int]:
    """Partition and offset of a letter's name.

    Raises:
        CommandFailed: it is none.
    """
    from streams.dead_letters.received import place_of
    from streams.topics import DEAD_LETTERS

    topic = DEAD_LETTERS.full_name(settings)
    found = place_of(name, topic)
    if found is None:
        raise _usage(f"{name!a} names no letter of {topic}; `qrstream dlq list` shows the names, as 3-17 or {topic}-3-17")
    return found


def _known(reason: str) -> None:
    import difflib

    from processors.errors import TABLE

    if reason not in TABLE:
        letters = [code for code, row in TABLE.items() if row.dead_letter]
        close = difflib.get_close_matches(reason, letters, 1)
        raise _usage(f"--reason {reason!a} is no error code; " + (f"did you mean {close[0]}?" if close else f"dead letters have {', '.join(letters)}"))


def _usage(message: str) -> Exception:
    from streams.cli.failure import CommandFailed
    from streams.exit_codes import ExitCode

    return CommandFailed(ExitCode.USAGE, message)
