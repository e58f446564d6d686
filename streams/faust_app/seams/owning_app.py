"""What the seams need of the app, so that they need not import it."""

from __future__ import annotations

from typing import Any, Protocol, cast

from streams.ownership.owners import Owners


class OwningApp(Protocol):
    """A Faust app that owns partitions."""

    owners: Owners

    def committable_offset(self, topic: str, partition: int) -> int | None:
        """The offset that the consumer group may commit for a partition."""

    async def open_ownerships(self) -> None:
        """Fence and restore every assigned partition of the source."""


def owning(app: Any) -> OwningApp:
    """The app behind a Faust service, as the owning app that it is."""
    return cast(OwningApp, app)
