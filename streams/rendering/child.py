"""The process that renders: python -m streams.rendering.child, with a socket to the worker as standard input.

It reads a first frame that sets it up, says that it is ready, and from then on answers one frame with one, in order.
It ends when the worker does: at the end of its socket; on Linux by SIGKILL when the thread that started it ends
(PR_SET_PDEATHSIG, prctl(2)), in the middle of a render too; elsewhere a render in progress is ended by an alarm.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from processors.render import Rendered
    from processors.spec import RenderSpec
    from streams.rendering.frames import Frame

OUT_OF_MEMORY: Final = 112
"""Exit status for a render that reached the memory bound."""
_PR_SET_PDEATHSIG: Final = 1
_OOM_SCORE: Final = "1000"
_MOST_ERROR_BYTES: Final = 1 << 20


def main() -> None:
    """Serve the socket on descriptor 0 until it ends."""
    worker = _socket()
    _live_as_a_child()
    # After the above: until its imports are done a process would outlive a worker that is killed meanwhile.
    from streams.rendering.frames import Frame, FrameReader, read_frame  # noqa: PLC0415

    reader = FrameReader()
    setup = read_frame(worker, reader)
    if setup is None:
        return
    bounded = _bound_memory(setup.header["memory"])
    render = _render_of(setup.header["faults"], setup.header["scan_policy"])
    code = _code()
    if setup.header["proven"] != code and (fault := _fault_of_this_installation()):
        worker.sendall(Frame({"ready": False, "reason": fault}).encoded())
        return
    worker.sendall(Frame({"ready": True, "memory_bounded": bounded, "code": code}).encoded())
    while (frame := read_frame(worker, reader)) is not None:
        # The worker kills a render at its bound, much earlier. This is for a worker that is gone, where no signal says so.
        signal.setitimer(signal.ITIMER_REAL, setup.header["alarm"])
        answer = _answer(render, frame)
        signal.setitimer(signal.ITIMER_REAL, 0)
        worker.sendall(answer.encoded())


def _socket() -> socket.socket:
    """The socket, away from descriptors 0 and 1, where a library that reads or prints would spoil it."""
    worker = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return worker


def _live_as_a_child() -> None:
    # The worker ends it. A terminal's Ctrl-C and a service manager's SIGTERM go to all processes, and a worker that
    # stops in order still needs it.
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # Where memory runs out all the same, the kernel takes this process and not the worker (proc_pid_oom_score_adj(5)).
        # Where /proc is read-only it stays as likely as the worker.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123  # pathlib is an import more before it counts
            score.write(_OOM_SCORE)
    # A stack on standard error instead of a core of a gigabyte for each try; it names functions, never values.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    faulthandler.enable()
    # Standard error is a file that the worker reads when this process has died.
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_ERROR_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MOST_ERROR_BYTES), hard))


def _bound_memory(most_bytes: int) -> bool:
    """Bound the address space (setrlimit(2)); whether this system lets us."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    bound = most_bytes if hard == resource.RLIM_INFINITY else min(hard, most_bytes)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    except (ValueError, OSError):  # macOS knows the limit and refuses it
        return False
    return True


def _render_of(faults: dict[str, Any] | None, scan_policy: str) -> Callable[[RenderSpec, int], Rendered]:
    from processors.render import render  # noqa: PLC0415  # under the bounds, as all that follows
    from processors.verify import ScanPolicy  # noqa: PLC0415

    policy = ScanPolicy(scan_policy)

    def render_any(spec: RenderSpec, _attempt: int) -> Rendered:
        return render(spec, policy)

    if faults is None:
        return render_any
    from streams.rendering.faults import RenderFaults, with_faults  # noqa: PLC0415

    return with_faults(render_any, RenderFaults.from_members(faults))


def _code() -> str:
    """SHA-256 of path, length and time of change of every file that is loaded: an upgrade under a running worker changes it."""
    loaded = sha256()
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        # A module of an archive has no file of its own; the archive's reader has.
        if file is not None and os.path.exists(file):  # noqa: PTH110  # as above
            facts = os.stat(file)  # noqa: PTH116
            loaded.update(f"{name}\0{file}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return loaded.hexdigest()


def _fault_of_this_installation() -> str | None:
    from processors.golden import OtherBytes  # noqa: PLC0415  # under the bounds
    from streams.rendering.golden_vectors import check_all  # noqa: PLC0415

    try:
        check_all()
    except OtherBytes as other:
        return str(other)
    return None


def _answer(render: Callable[[RenderSpec, int], Rendered], frame: Frame) -> Frame:
    from processors.errors import RenderError  # noqa: PLC0415
    from streams.rendering.frames import error_frame, rendered_frame, spec_of  # noqa: PLC0415

    number = frame.header["number"]
    try:
        return rendered_frame(number, render(spec_of(frame), frame.header["attempt"]))
    except RenderError as error:
        _die_of_memory(error.__cause__)
        cause = error.__cause__
        return error_frame(number, error, None if cause is None else "".join(traceback.format_exception(cause)))
    except MemoryError as error:
        _die_of_memory(error)
        raise


def _die_of_memory(error: BaseException | None) -> None:
    """Leave instead of failing the render: a former one may have used the memory up, and a fresh process tells."""
    if isinstance(error, MemoryError):
        os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main()
