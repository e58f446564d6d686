"""Letters in columns: fitted to a terminal's width, whole where nobody looks but a program."""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streams.dead_letters.received import ReceivedLetter

_GAP = 2
_TENANT, _REQUEST = 3, 4
_LEAST = {_TENANT: 5, _REQUEST: 8}
"""Characters that these columns keep however narrow the terminal is: with the longest reason and a state, 80 in all."""
_LEAST_REMARK = 8
_WIDE = 110
"""From so many columns on, there is room for a message."""


@dataclass(frozen=True, slots=True)
class Row:
    """One letter as a line shows it; `remark` is what matters about it here."""

    letter: str
    failed_at: int
    reason: str
    tenant: str
    request_id: str
    generation: str
    state: str
    remark: str


def row_of(letter: ReceivedLetter, state: str, remark: str) -> Row:
    """The line of a letter."""
    facts = letter.facts
    return Row(
        letter.short_name, letter.failed_at, facts.get("reason", "-"), facts.get("tenant", "-"), facts.get("request-id", "-"),
        facts.get("generation", "-"), state, remark,
    )


class Newest:
    """The newest rows of many, so that a million letters need the room of `most`; and how many there were, by reason."""

    def __init__(self, most: int | None) -> None:
        """None keeps all."""
        self._most = most
        self._heap: list[tuple[int, int, Row, Any]] = []
        self.count = 0
        self.by_reason: Counter[str] = Counter()

    def add(self, row: Row, beside: Any = None) -> None:
        """Take one row, and what is to be kept beside it."""
        self.count += 1
        self.by_reason[row.reason] += 1
        entry = (row.failed_at, self.count, row, beside)
        if self._most is None or len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        elif self._most:
            heapq.heappushpop(self._heap, entry)

    @property
    def rows(self) -> list[Row]:
        """Oldest first: the newest stands where the eye is, above the prompt."""
        return [row for _, _, row, _ in self._in_order()]

    @property
    def beside(self) -> list[Any]:
        """What was kept beside the rows, in their order."""
        return [beside for _, _, _, beside in self._in_order()]

    def _in_order(self) -> list[tuple[int, int, Row, Any]]:
        return sorted(self._heap, key=lambda entry: entry[:2])


def lines_of(rows: Sequence[Row], *, with_state: bool, remark: str, width: int | None) -> list[str]:
    """A head and one line a row, none wider than `width`; None cuts nothing.

    What is too wide loses its end first in the remark, then in tenant and request id.
    """
    from rich.cells import cell_len, set_cell_size

    show_remark = bool(remark) and any(row.remark for row in rows)
    heads = ["letter", "failed at", "reason", "tenant", "request id", "gen", *(["state"] if with_state else []), *([remark] if show_remark else [])]
    cells = [
        [printable(text) for text in (
            row.letter, _minute(row.failed_at), row.reason, row.tenant, row.request_id, row.generation,
            *([row.state] if with_state else []), *([row.remark] if show_remark else []),
        )] for row in rows
    ]  # fmt: skip
    widths = [max(map(cell_len, column)) for column in zip(heads, *cells, strict=True)]
    if width is not None:
        _fit(widths, width, [*([len(heads) - 1] if show_remark else []), _TENANT, _REQUEST])
    gap = " " * _GAP
    return [gap.join(set_cell_size(_cut(text, wide), wide) for text, wide in zip(line, widths, strict=True)).rstrip() for line in [heads, *cells]]


def _fit(widths: list[int], width: int, flexible: list[int]) -> None:
    """Take from the flexible columns, in order, what the terminal lacks."""
    for column in flexible:
        excess = sum(widths) + _GAP * (len(widths) - 1) - width
        if excess > 0:
            widths[column] = max(min(_LEAST.get(column, _LEAST_REMARK), widths[column]), widths[column] - excess)


def _cut(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _minute(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # a stranger's number is no reason to end
        return str(milliseconds)


def printable(text: str) -> str:
    """Text from a record, without what would move a terminal's cursor or change its colours."""
    return "".join(character if character.isprintable() else character.encode("unicode_escape").decode() for character in text)


def counts(by_reason: Counter[str]) -> str:
    """`wrong_key 10, render_failed 4`."""
    return ", ".join(f"{reason} {number:,}" for reason, number in sorted(by_reason.items(), key=lambda item: (-item[1], item[0])))


def print_rows(rows: Sequence[Row], *, with_state: bool = False, remark: str = "") -> None:
    """To stdout; the remark only where there is room for it."""
    from rich.console import Console
    from rich.text import Text

    if not rows:
        return
    console = Console(highlight=False, markup=False, emoji=False)
    width = console.width if console.is_terminal else None
    shown = remark if width is None or width >= _WIDE else ""
    for number, line in enumerate(lines_of(rows, with_state=with_state, remark=shown, width=width)):
        console.print(Text(showable(line), style="bold" if number == 0 else ""), soft_wrap=True)


def showable(line: str) -> str:
    """A line in the characters that stdout has."""
    encoding = sys.stdout.encoding or "utf-8"
    return line.encode(encoding, "backslashreplace").decode(encoding)
