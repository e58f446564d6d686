"""Fault injection for renders: slow or deadly on chosen content hashes, the same ones every time.

Carried out in the child only. QR_FAULT_RENDER_* choose, and are refused with QR_MODE=production.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from processors.canonical import content_hash
from processors.render import Rendered
from processors.spec import RenderSpec

if TYPE_CHECKING:
    from streams.settings import Settings

RenderAttempt = Callable[[RenderSpec, int], Rendered]
"""Renders a spec; the number is the attempt, 1 for the first."""

EXIT_STATUS: Final = 113
_STEP_BYTES: Final = 64 << 20
_FRACTION: Final = 1 << 64


@dataclass(frozen=True, slots=True)
class RenderFaults:
    """What is done to whom.

    Attributes:
        seconds: of sleep before the render.
        crash: exit, segfault, memory, loop, or None.
        rate: 0 to 1, the part of all content hashes that is chosen.
        prefixes: of content hashes in hex; none chooses among all.
        tries: attempts of one render that are hit; None hits all.
    """

    seconds: float
    crash: str | None
    rate: float
    prefixes: tuple[str, ...]
    tries: int | None

    @classmethod
    def of(cls, settings: Settings) -> RenderFaults | None:
        """The faults that are asked for, None if none are."""
        if not settings.fault_render_seconds and settings.fault_render_crash is None:
            return None
        return cls(
            seconds=settings.fault_render_seconds,
            crash=settings.fault_render_crash,
            rate=settings.fault_render_rate,
            prefixes=tuple((settings.fault_render_hashes or "").split(",")) if settings.fault_render_hashes else (),
            tries=settings.fault_render_tries,
        )

    @classmethod
    def from_members(cls, members: dict[str, Any]) -> RenderFaults:
        """What `dataclasses.asdict` gave, after its way through JSON."""
        return cls(**{**members, "prefixes": tuple(members["prefixes"])})

    def hit(self, hashed: str, attempt: int) -> bool:
        """Whether this attempt to render this content hash is to suffer."""
        if self.tries is not None and attempt > self.tries:
            return False
        if self.prefixes and not hashed.startswith(self.prefixes):
            return False
        # Not the hash's own digits: with a prefix given, these would decide twice.
        drawn = int.from_bytes(sha256(b"qr-render-fault\n" + hashed.encode()).digest()[:8])
        return drawn < self.rate * _FRACTION


def with_faults(render: RenderAttempt, faults: RenderFaults) -> RenderAttempt:
    """The same render, which suffers on the way where it is chosen."""

    def suffering(spec: RenderSpec, attempt: int) -> Rendered:
        if faults.hit(content_hash(spec), attempt):
            time.sleep(faults.seconds)
            if faults.crash is not None:
                DEATHS[faults.crash]()
        return render(spec, attempt)

    return suffering


def _exit() -> None:
    os._exit(EXIT_STATUS)


def _segfault() -> None:
    ctypes.string_at(0)


def _memory() -> None:
    held = []
    while True:
        # Never touched, so that it is address space that runs out, and not the memory of the machine.
        held.append(bytes(_STEP_BYTES))


def _loop() -> None:
    while True:
        pass


DEATHS: Final[dict[str, Callable[[], None]]] = {"exit": _exit, "segfault": _segfault, "memory": _memory, "loop": _loop}
