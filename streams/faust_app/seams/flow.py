"""Flow control that never drops what has been delivered under the present generation.

Faust's recovery resumes flow twice: before partitions are resumed and sought to their committed offsets, and
after. `FlowControlEvent.resume` clears every queue. What the consumer had delivered behind the seek and before
the second resume was gone, with the fetch position beyond it: where no later record came, nothing told of the
gap, and a partition stood still for minutes.
"""

from __future__ import annotations

from mode.utils.queues import FlowControlEvent


class FlowControl(FlowControlEvent):
    """Clears the queues only when flow had been suspended: then they hold another generation's events."""

    def resume(self) -> None:
        if not self.is_active():
            super().resume()
