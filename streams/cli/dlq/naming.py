"""Letters that were named and are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streams.dead_letters.choosing import Scope
    from streams.settings import Settings


def say_missing(settings: Settings, scope: Scope, seen: set[tuple[int, int]]) -> int:
    """A line on stderr for each named letter that was not met; how many."""
    from streams.cli.failure import say_error
    from streams.topics import DEAD_LETTERS

    missing = sorted(set(scope.selection.places or ()) - seen)
    for partition, offset in missing:
        say_error("not_found", f"{DEAD_LETTERS.full_name(settings)}-{partition}-{offset}: it was never there, retention has deleted it, or the options leave it out")
    return len(missing)
