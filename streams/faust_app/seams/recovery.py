"""Recovery: at each rebalance, ownerships are fenced and restored where Faust would read changelogs.

Inside the recovery task and not in the rebalance callback: aiokafka sends no heartbeats while a callback
runs (a 13 s callback under a 10 s session never stabilised).
"""

from __future__ import annotations

from typing import Any

from faust.tables.manager import TableManager as FaustTableManager
from faust.tables.recovery import Recovery as FaustRecovery

from streams.faust_app.seams.owning_app import owning


class Recovery(FaustRecovery):
    """Opens ownerships, then tells Faust that nothing is left to recover."""

    async def _build_highwaters(self, consumer: Any, tps: Any, destination: Any, title: str) -> None:
        if title != "active":  # standbys are off (table_standby_replicas=0)
            await super()._build_highwaters(consumer, tps, destination, title)
            return
        await owning(self.app).open_ownerships()
        destination.clear()
        for tp in tps:
            self.active_offsets[tp] = destination[tp] = 0

    async def _wait(self, coro: Any, timeout: Any = None) -> None:
        """Without the timeout: a restore longer than broker_request_timeout would end recovery in silence."""
        await super()._wait(coro, timeout=None)


class TableManager(FaustTableManager):
    """Faust's table manager with our recovery, which begins at once."""

    async def on_start(self) -> None:
        """Without the second that Faust waits for tables still to be declared: ours are, when the app is imported."""
        if not self.should_stop:
            await self._update_channels()
            await self.recovery.start()

    @property
    def recovery(self) -> FaustRecovery:
        if self._recovery is None:
            self._recovery = Recovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery
