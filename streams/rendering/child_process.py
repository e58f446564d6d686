"""One process that renders, as the worker sees it: started, given specs ahead of its answers, killed."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

import structlog

from processors.errors import RenderError
from processors.render import Rendered
from processors.spec import RenderSpec
from streams.rendering.child import OUT_OF_MEMORY
from streams.rendering.frames import Frame, FrameCorrupt, FrameReader, answer_of, spec_frame
from streams.settings import PREFIX

log = structlog.get_logger(__name__)

AHEAD: Final = 16
"""Specs that the child has beyond the one it renders. 2 would do to keep it busy while this thread waits for the
interpreter; more than some dozens only make work that is thrown away when a caller has enough."""
START_SECONDS: Final = 60.0
"""The imports take 1 s, and 10 on a machine that is ten times slower and starts other processes beside it."""
_REAP_SECONDS: Final = 10.0
_GRACE_SECONDS: Final = 2.0
_RECEIVE_BYTES: Final = 1 << 18
_MOST_STACK: Final = 4_096


@dataclass(frozen=True, slots=True)
class ChildTerms:
    """What a child is started with.

    Attributes:
        command: the program and its arguments; it speaks the protocol of `frames` on descriptor 0.
        bound: seconds a render may take.
        memory: bytes of address space.
        faults: of `RenderFaults`, as members, or None.
        scan_policy: of `ScanPolicy`.
        proven: `ChildProcess.code` of one that made the golden vectors; other code makes them first.
    """

    command: Sequence[str]
    bound: float
    memory: int
    faults: Mapping[str, Any] | None
    scan_policy: str
    proven: str | None


class ChildUnfit(Exception):
    """The child makes other bytes than a profile has fixed; the message says which."""


class ChildDied(Exception):
    """The child ended, or spoke nonsense and was ended; the message says how, and the stack if there is one."""


class RenderOverdue(Exception):
    """The child was killed: its render took longer than the bound."""


class ChildProcess:
    """A child that is ready to render. Used by one thread at a time; must be started by a thread that outlives it.

    Attributes:
        pid: of the child.
        memory_bounded: whether the system lets us bound its memory.
        code: identity of the files that it has loaded, all of which make the golden vectors.
    """

    def __init__(self, terms: ChildTerms) -> None:
        """Start it and wait until it is ready.

        Raises:
            ChildDied: it ended first, or was not ready within START_SECONDS.
            ChildUnfit: it makes other bytes.
            OSError: there is no room for another process, or no such program.
        """
        self._terms = terms
        self._reader = FrameReader()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the child
        ours, theirs = socket.socketpair()
        try:
            # S603: every word is ours, or our tests'. A session of its own: a terminal's signals are not for it.
            self._process = subprocess.Popen(  # noqa: S603
                terms.command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=self._errors, env=_environment(), start_new_session=True
            )
        except BaseException:
            ours.close()
            self._errors.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._socket = ours
        self.pid = self._process.pid
        alarm = terms.bound * 2 + 1
        faults = None if terms.faults is None else dict(terms.faults)
        setup = Frame({"memory": terms.memory, "faults": faults, "scan_policy": terms.scan_policy, "proven": terms.proven, "alarm": alarm})
        ready = self._introduced(setup)
        if not ready.header["ready"]:
            self.kill()
            raise ChildUnfit(ready.header["reason"])
        self.memory_bounded = ready.header.get("memory_bounded") is True
        self.code: str = ready.header["code"]

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return self._process.poll() is None

    def answers(self, asked: Iterable[tuple[RenderSpec, int]]) -> Iterator[Rendered | RenderError]:
        """Render specs (each with its attempt, from 1) and yield the answers in order.

        `asked` is read as the child takes specs, AHEAD of the answers; when it ends, what was read is still answered.
        An iterator that is not read to its end ends the child.

        Raises:
            ChildDied: at the first spec that has no answer.
            RenderOverdue: likewise; the bound counts from the answer before, which is when the child began.
        """
        waiting = iter(asked)
        outgoing = bytearray()
        pending: deque[int] = deque()
        sent, exhausted = 0, False
        due = 0.0
        whole = False
        try:
            while True:
                while not exhausted and len(pending) <= AHEAD:
                    if (following := next(waiting, None)) is None:
                        exhausted = True
                        break
                    if not pending:
                        due = time.monotonic() + self._terms.bound
                    outgoing += spec_frame(sent, *following).encoded()
                    pending.append(sent)
                    sent += 1
                if not pending:
                    whole = True
                    return
                self._wait(writing=bool(outgoing), due=due)
                self._send(outgoing)
                self._receive()
                while pending and (answer := self._reader.next()) is not None:
                    answered = answer_of(answer, pending.popleft())
                    due = time.monotonic() + self._terms.bound
                    yield answered
        except FrameCorrupt as exc:
            raise ChildDied(f"it sent {exc}") from None
        finally:
            # Answers that nobody waits for would be taken for those of the next specs.
            if not whole:
                self.kill()

    def kill(self) -> None:
        """End it at once, whatever it does; harmless if it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._close(_REAP_SECONDS)

    def stop(self) -> None:
        """End it as its end of input does, and after a grace by force."""
        self._close(_GRACE_SECONDS)
        if self._process.poll() is None:
            self.kill()

    def _close(self, seconds: float) -> None:
        self._socket.close()
        # A process that waits for a disk ends only after that; its entry is reaped when the next one is started.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._errors.close()

    def _introduced(self, setup: Frame) -> Frame:
        outgoing = bytearray(setup.encoded())
        due = time.monotonic() + START_SECONDS
        try:
            while (ready := self._reader.next()) is None:
                self._wait(writing=bool(outgoing), due=due)
                self._send(outgoing)
                self._receive()
            return ready
        except FrameCorrupt as exc:
            self.kill()
            raise ChildDied(f"it sent {exc}") from None
        except RenderOverdue:
            raise ChildDied(f"it was not ready within {START_SECONDS:.0f} s") from None
        except BaseException:
            self.kill()
            raise

    def _wait(self, *, writing: bool, due: float) -> None:
        """Wait until the socket can be used. Raises RenderOverdue, with the child killed."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN | (select.POLLOUT if writing else 0))
        # Looked at once even if the time is up: this thread may be the one that was late, with an answer there.
        if not poll.poll(max(0.0, due - time.monotonic()) * 1000):
            self.kill()
            raise RenderOverdue

    def _send(self, outgoing: bytearray) -> None:
        try:
            while outgoing:
                del outgoing[:self._socket.send(outgoing)]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            outgoing.clear()  # it has ended; what it had answered before is still there to be read

    def _receive(self) -> None:
        """Take what is there. Raises ChildDied at its end."""
        try:
            received = self._socket.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return
        except ConnectionResetError:
            received = b""
        if not received:
            raise ChildDied(self._how_it_ended())
        self._reader.feed(received)

    def _how_it_ended(self) -> str:
        # Its socket is closed, so it has ended or is about to; one that only closed its socket is of no use.
        try:
            status = self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return "it closed its socket"
        if status == OUT_OF_MEMORY:
            return f"it reached the bound of {self._terms.memory >> 20:,} MiB"
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
        self._errors.seek(0)
        stack = self._errors.read()[-_MOST_STACK:].decode("utf-8", "replace").strip()
        return f"{how}: {stack}" if stack else how


def _environment() -> dict[str, str]:
    """The worker's environment without its secrets, for the same code, with one thread for numpy's BLAS.

    Each of BLAS's threads reserves tens of MiB of address space, which is bounded, and rendering multiplies no matrices.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    path = os.pathsep.join(entry or str(os.getcwd()) for entry in sys.path)  # noqa: PTH109  # what an empty entry means
    return {**kept, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
