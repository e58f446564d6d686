"""Faust's monitor without its counts per event, which nobody reads: queue depth and latency come from metric facts."""

from __future__ import annotations

from typing import Any

from faust.sensors import Monitor


class UncountingMonitor(Monitor):
    """Counts commits, tables and rebalances as Faust does, and nothing for each event."""

    def on_message_in(self, tp: Any, offset: int, message: Any) -> None: ...

    def on_message_out(self, tp: Any, offset: int, message: Any) -> None: ...

    def on_stream_event_in(self, tp: Any, offset: int, stream: Any, event: Any) -> None: ...

    def on_stream_event_out(self, tp: Any, offset: int, stream: Any, event: Any, state: Any = None) -> None: ...

    def track_tp_end_offset(self, tp: Any, offset: int) -> None: ...
