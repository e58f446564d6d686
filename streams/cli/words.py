"""How times, sizes and contents are shown to people."""

from __future__ import annotations

from datetime import datetime

_FEW_BYTES = 10_000


def clock(milliseconds: int) -> str:
    """Local time of day, to the second."""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%H:%M:%S")


def instant(milliseconds: int) -> str:
    """Local date and time with its offset from UTC."""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().isoformat(" ", "seconds")


def shown_size(size: int) -> str:
    """Bytes, in the unit that people count in."""
    return f"{size:,} B" if size < _FEW_BYTES else f"{size / 1024:,.0f} KiB"


def counted(number: int, noun: str) -> str:
    """`1 request`, `2 requests`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
