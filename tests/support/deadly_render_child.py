"""A child whose encoder dies of what a content says: python -m tests.support.deadly_render_child FOLDER [elsewhere]

`DIE:SEGFAULT` dies every time, `DIE:EXIT:2` twice and then works; FOLDER remembers how often. `elsewhere` makes it
live as on a system that has no PR_SET_PDEATHSIG.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from processors.spec import RenderSpec
    from processors.symbol import Symbol

_leaked: list[bytes] = []


def command(folder: Path, *options: str) -> tuple[str, ...]:
    """What to set as `Renderer.command`."""
    return (sys.executable, "-P", "-m", "tests.support.deadly_render_child", str(folder), *options)


def segfault() -> None:
    ctypes.string_at(0)


def memory() -> None:
    held = []
    while True:
        held.append(bytes(64 << 20))


def loop() -> None:
    while True:
        pass


def leave() -> None:
    os._exit(3)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def nonsense() -> None:
    """Write on the socket, whichever descriptor it is, what no child writes."""
    for descriptor in range(3, 32):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"\xff" * 8)


def leak() -> None:
    """Keep most of what the bound of 1 GiB leaves, and render all the same."""
    _leaked.append(bytes(600 << 20))


def prints() -> None:
    """Use standard input and output as a library might."""
    os.write(1, b"progress: 10 %\n")
    assert os.read(0, 1) == b""


def unknown() -> None:
    raise ArithmeticError("no such number")


WAYS: dict[str, Callable[[], None]] = {
    "SEGFAULT": segfault, "MEMORY": memory, "LOOP": loop, "EXIT": leave, "KILLED": killed, "NONSENSE": nonsense,
    "LEAK": leak, "PRINTS": prints, "UNKNOWN": unknown,
}


def main(folder: Path, options: list[str]) -> None:
    """Wrap the encoder, then serve as the product's child does."""
    child: Any = importlib.import_module("streams.rendering.child")
    symbol: Any = importlib.import_module("processors.symbol")  # before processors.render takes its name from it
    original = symbol.make_symbol
    if "elsewhere" in options:
        child.sys = SimpleNamespace(platform="elsewhere")

    def make(spec: RenderSpec) -> Symbol:
        verb, _, rest = spec.content.decode("latin-1").partition(":")
        if verb == "DIE":
            way, _, times = rest.partition(":")
            deaths = folder / sha256(spec.content).hexdigest()
            with deaths.open("ab") as file:
                file.write(b"x")
            if not times or deaths.stat().st_size <= int(times):
                WAYS[way]()
        made: Symbol = original(spec)
        return made

    symbol.make_symbol = make
    child.main()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
