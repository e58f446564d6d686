"""Which letters are meant: by name, or by reason, time and tenant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from streams.dead_letters.received import ReceivedLetter

_DURATION = re.compile(r"(\d{1,9})\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Selection:
    """A letter is meant if every part that is given holds; times are milliseconds since the epoch.

    Attributes:
        reasons, tenants: any of them; empty for all.
        since: failed at or after it. until: failed before it.
        settled: letters with a disposition too.
        places: partition and offset of the letters that were named; None where none was.
    """

    reasons: frozenset[str] = frozenset()
    tenants: frozenset[str] = frozenset()
    since: int | None = None
    until: int | None = None
    settled: bool = False
    places: tuple[tuple[int, int], ...] | None = None

    def means(self, letter: ReceivedLetter) -> bool:
        """Whether a letter's reason, tenant and time fit."""
        return (
            (not self.reasons or letter.reason in self.reasons)
            and (not self.tenants or letter.tenant in self.tenants)
            and (self.since is None or letter.failed_at >= self.since)
            and (self.until is None or letter.failed_at < self.until)
        )


def instant_of(text: str, now_ms: int) -> int:
    """Milliseconds since the epoch for `24h` (so long ago) or an ISO 8601 date or time (local, without an offset).

    Raises:
        ValueError: it is neither; the message is one line that shows both.
    """
    ago = _DURATION.fullmatch(text.strip().lower())
    try:
        if ago is not None:
            return now_ms - int(timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]]).total_seconds() * 1000)
        # Without an offset it is what the clock on this machine's wall says.
        return int(datetime.fromisoformat(text.strip()).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!a} is no time; write how long ago, as 90s, 30m, 24h, 7d or 2w, or an instant, as 2026-01-31T12:00:00Z") from None
