"""The child of a traced worker: python -m tests.support.faulty_render_child TRACE SLOW_RENDER_SECONDS [other-bytes]

A worker's `Renderer.command` is replaced by `command(trace, seconds)`; each call of the encoder in the child is then
an "encoded" line of the trace, with the child's pid, and each render sleeps first. With `other-bytes` its PNG files
have other bytes than those of any other worker.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.trace import TraceWriter

if TYPE_CHECKING:
    from processors.spec import RenderSpec
    from processors.symbol import Symbol


def command(trace: Path, slow_render_s: float = 0.0, *options: str) -> tuple[str, ...]:
    """What to set as `Renderer.command`."""
    return (sys.executable, "-P", "-m", "tests.support.faulty_render_child", str(trace.absolute()), str(slow_render_s), *options)


def main(trace: Path, slow_render_s: float, *options: str) -> None:
    """Wrap, then serve as the product's child does. A name that is gone ends the child, and so the worker."""
    child = importlib.import_module("streams.rendering.child")
    symbol: Any = importlib.import_module("processors.symbol")  # before processors.render takes its name from it
    writer = TraceWriter(trace)
    original = symbol.make_symbol

    def make(spec: RenderSpec) -> Symbol:
        writer.write("encoded")
        time.sleep(slow_render_s)
        made: Symbol = original(spec)
        return made

    symbol.make_symbol = make
    if "other-bytes" in options:
        png: Any = importlib.import_module("processors.images.png")
        checksum = png.crc32
        png.crc32 = lambda chunk: checksum(chunk) ^ 1
    child.main()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:])
