"""A real Apache Kafka of one node, from its jars, for one machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from streams.local_broker.errors import LocalBrokerError
from streams.local_broker.folder import (
    forget_logs,
    format_once,
    last_error,
    last_port,
    logs_of,
    lost_port,
    owned,
    remember_port,
)
from streams.local_broker.jvm import Jvm, installed_jvm
from streams.local_broker.ports import LOOPBACK, free_ports, is_free
from streams.local_broker.readiness import answers
from streams.local_broker.server_properties import as_text, server_properties

# 2 s is usual on an idle machine; slow and shared cores were seen to take 100 s.
START_SECONDS = 240.0
# A clean stop takes 2 s, and 9 s were seen on busy cores. Past this the broker is killed, and recovers its logs at
# the next start.
GRACE_SECONDS = 30.0
_PORT_ATTEMPTS = 3
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Launch:
    """What a start is made of, besides the folder: settings win over the local broker's own."""

    jvm: Jvm
    port: int | None = None
    overrides: Mapping[str, str] | None = None
    grace_seconds: float = GRACE_SECONDS


class LocalBroker:
    """A running broker: `bootstrap` is its host:port, `pid` its Java program; stopped by `stop` or leaving `with`."""

    def __init__(self, data_dir: Path, bootstrap: str, pid: int, supervisor: subprocess.Popen[bytes]) -> None:
        self.data_dir = data_dir
        self.bootstrap = bootstrap
        self.pid = pid
        self._supervisor = supervisor

    @classmethod
    def start(
        cls, data_dir: Path, *, port: int | None = None, overrides: Mapping[str, str] | None = None
    ) -> LocalBroker:
        """Start a broker whose records, settings and logs are all in `data_dir`, and wait until it answers.

        Without `port`, the folder's last port when that is free, else any free one. `overrides` are broker settings.
        Raises LocalBrokerError when it cannot run, with the reason in one line.
        """
        return cls.launch(data_dir, Launch(installed_jvm(), port, overrides))

    @classmethod
    def launch(cls, data_dir: Path, launch: Launch) -> LocalBroker:
        """`start`, on a Java of the caller's choice."""
        folder = data_dir.resolve()
        if launch.port is not None and not is_free(launch.port):
            msg = f"port {launch.port} is in use: stop what listens on it, or choose another for the local broker"
            raise LocalBrokerError(msg)
        with owned(folder) as lock:
            cluster_id = format_once(folder, replace(launch.jvm, writes_archive=False))
            lost: frozenset[int] = frozenset()
            for _ in range(_PORT_ATTEMPTS):
                port = launch.port or _port(folder, lost)
                controller_port = free_ports(1, besides=lost | {port})[0]
                broker = cls._spawn(folder, launch, (port, controller_port), lock)
                if _answers_in_time(broker, cluster_id):
                    return broker
                # Another program took a port between our look and the broker's bind.
                lost |= {port, controller_port}
        msg = f"no port for the local broker stayed free in {_PORT_ATTEMPTS} attempts: start again"
        raise LocalBrokerError(msg)

    def stop(self) -> None:
        """Stop the broker by the pid it was started with, cleanly if it can; does nothing a second time."""
        # The end of its input is what tells the supervisor to stop; it ends when the broker has.
        if self._supervisor.stdin is not None:
            self._supervisor.stdin.close()
        self._supervisor.wait()

    def kill(self) -> None:
        """End the broker at once, as kill -9 does; what it had not flushed to disk is still in the page cache."""
        # The pid cannot be another program's: the supervisor has not waited for it while it runs itself.
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the broker is still there."""
        return self._supervisor.poll() is None

    @classmethod
    def _spawn(cls, folder: Path, launch: Launch, ports: tuple[int, int], lock: int) -> LocalBroker:
        port, controller_port = ports
        settings = folder / "server.properties"
        settings.write_text(
            as_text(
                server_properties(
                    folder / "records", port=port, controller_port=controller_port, overrides=launch.overrides
                )
            ),
            encoding="utf-8",
        )
        remember_port(folder, port)
        forget_logs(folder)
        command = [
            *(sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py")), str(launch.grace_seconds)),
            *launch.jvm.command("kafka.Kafka", str(settings), logs=logs_of(folder)),
        ]
        console_path = logs_of(folder) / "console.log"
        with console_path.open("wb") as console:
            # A session of its own keeps the terminal's Ctrl-C from the broker, so that whoever started it can first
            # stop what depends on it. The lock goes with the supervisor: the folder is taken as long as the broker
            # runs, not as long as this program does.
            supervisor = subprocess.Popen(  # noqa: S603 - every word is ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=console,
                pass_fds=(lock,),
                start_new_session=True,
            )
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        with supervisor.stdout as pid_line:
            pid = pid_line.readline().strip()
        if not pid:
            supervisor.stdin.close()
            supervisor.wait()
            msg = f"the local broker's program did not start: see {console_path}"
            raise LocalBrokerError(msg)
        return cls(folder, f"{LOOPBACK}:{port}", int(pid), supervisor)


def _answers_in_time(broker: LocalBroker, cluster_id: str) -> bool:
    """Wait until this very broker answers; False, and stopped, when its port went to another program."""
    deadline = time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < deadline:
            if not broker.running:
                if lost_port(broker.data_dir):
                    broker.stop()
                    return False
                msg = f"the local broker ended while starting ({last_error(broker.data_dir)}): see {logs_of(broker.data_dir)}"
                raise LocalBrokerError(msg)
            if answers(broker.bootstrap, cluster_id):
                return True
            time.sleep(_POLL_SECONDS)
        msg = f"the local broker did not answer within {START_SECONDS:.0f} s: see {logs_of(broker.data_dir)}"
        raise LocalBrokerError(msg)
    except BaseException:
        # Ctrl-C while waiting included: nothing stays behind that nobody has a hold of.
        broker.stop()
        raise


def _port(folder: Path, lost: frozenset[int]) -> int:
    """The folder's last port, so that what was told the address finds the broker again; else a free one."""
    last = last_port(folder)
    if last is not None and last not in lost and is_free(last):
        return last
    return free_ports(1, besides=lost)[0]
