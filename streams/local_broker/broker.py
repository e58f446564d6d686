"""A real Apache Kafka of one node, from its jars, for one machine."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from streams.local_broker.errors import LocalBrokerError
from streams.local_broker.jars import KAFKA_FILES, kafka_jars
from streams.local_broker.java import find_java
from streams.local_broker.ports import LOOPBACK, free_ports, is_free
from streams.local_broker.readiness import answers
from streams.local_broker.server_properties import as_text, server_properties

# 2 s is usual on an idle machine; slow or shared cores have been seen to take 40 s, before a log to recover after kill -9.
START_SECONDS = 180.0
# A clean stop takes about a second. Past this the broker is killed, and recovers its logs at the next start.
GRACE_SECONDS = 15.0
_PORT_ATTEMPTS = 3
_POLL_SECONDS = 0.05


class LocalBroker:
    """A running broker: `bootstrap` is its host:port, `pid` its Java process; stopped by `stop` or leaving `with`."""

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
        java = find_java()
        libs = kafka_jars(java)
        folder = data_dir.resolve()
        with _owned(folder) as lock:
            cluster_id = _format_once(folder, java, libs)
            taken: frozenset[int] = frozenset()
            for _ in range(_PORT_ATTEMPTS):
                ports = _ports(folder, port, taken)
                broker = cls._launch(folder, java, libs, ports, overrides, lock)
                if broker._ready(cluster_id):
                    return broker
                # Another program took a port between our probe and the broker's bind.
                broker.stop()
                taken |= frozenset(ports)
        msg = f"no port for the local broker stayed free in {_PORT_ATTEMPTS} attempts: start again"
        raise LocalBrokerError(msg)

    def stop(self) -> None:
        """Stop the broker by the pid it was started with, cleanly if it can; does nothing a second time."""
        if self._supervisor.stdin is not None and not self._supervisor.stdin.closed:
            self._supervisor.stdin.close()
        self._supervisor.wait()

    def kill(self) -> None:
        """End the broker at once, as kill -9 does; what it had not flushed to disk is still in the page cache."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 9)
        self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the Java process is still there."""
        return self._supervisor.poll() is None

    @property
    def logs(self) -> Path:
        """The folder of broker.log (the broker's own) and console.log (what the Java process printed)."""
        return self.data_dir / "logs"

    @classmethod
    def _launch(
        cls,
        folder: Path,
        java: Path,
        libs: Path,
        ports: tuple[int, int],
        overrides: Mapping[str, str] | None,
        lock: int,
    ) -> LocalBroker:
        port, controller_port = ports
        settings = server_properties(
            folder / "records", port=port, controller_port=controller_port, overrides=overrides
        )
        (folder / "server.properties").write_text(as_text(settings), encoding="utf-8")
        (folder / "port").write_text(str(port), encoding="utf-8")
        logs = folder / "logs"
        logs.mkdir(exist_ok=True)
        command = [
            *(sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py")), str(GRACE_SECONDS)),
            *_java_command(java, libs, logs),
            *("kafka.Kafka", str(folder / "server.properties")),
        ]
        with (logs / "console.log").open("wb") as console:
            # S603: every word is ours. A session of its own keeps the terminal's Ctrl-C from the broker, so that
            # whoever started it can first stop what depends on it. The lock goes with the supervisor: the folder is
            # taken as long as the broker runs, not as long as this process does.
            supervisor = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=console,
                pass_fds=(lock,),
                start_new_session=True,
            )
        with supervisor.stdout or contextlib.nullcontext() as started:
            line = started.readline() if started else b""
        if not line.strip():
            supervisor.wait()
            msg = f"the local broker's process did not start: see {logs / 'console.log'}"
            raise LocalBrokerError(msg)
        return cls(folder, f"{LOOPBACK}:{port}", int(line), supervisor)

    def _ready(self, cluster_id: str) -> bool:
        """Wait until this very broker answers; False when its port was lost to another program."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if not self.running:
                self.stop()
                if _lost_port(self.logs):
                    return False
                msg = f"the local broker ended while starting ({_last_line(self.logs)}): see {self.logs}"
                raise LocalBrokerError(msg)
            if answers(self.bootstrap, cluster_id):
                return True
            time.sleep(_POLL_SECONDS)
        self.stop()
        msg = f"the local broker did not answer within {START_SECONDS:.0f} s: see {self.logs}"
        raise LocalBrokerError(msg)


@contextlib.contextmanager
def _owned(folder: Path) -> Iterator[int]:
    """The folder made, and an open lock on it that a started supervisor inherits."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        msg = f"cannot use {folder} for the local broker's records: {error.strerror}"
        raise LocalBrokerError(msg) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            msg = f"a local broker already runs in {folder} on {LOOPBACK}:{_last_port(folder)}: use it, or stop it first"
            raise LocalBrokerError(msg) from error
        yield lock
    finally:
        os.close(lock)


def _format_once(folder: Path, java: Path, libs: Path) -> str:
    """The cluster id of the folder, given to it by Kafka's storage tool at its first use."""
    meta = folder / "records" / "meta.properties"
    if not meta.is_file():
        logs = folder / "logs"
        logs.mkdir(exist_ok=True)
        settings = folder / "server.properties"
        settings.write_text(as_text(server_properties(folder / "records", port=1, controller_port=2)), encoding="utf-8")
        # Kafka's own form of a cluster id: 16 bytes, base64 for URLs, no padding.
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        command = [
            *(*_java_command(java, libs, logs), "kafka.tools.StorageTool", "format"),
            *("--cluster-id", cluster_id, "--config", str(settings)),
        ]
        # S603: every word is ours.
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            reason = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
            msg = f"cannot prepare {folder} for the local broker: {reason}"
            raise LocalBrokerError(msg)
    entries = (line.partition("=") for line in meta.read_text(encoding="utf-8").splitlines())
    return next(value for key, _, value in entries if key == "cluster.id")


def _java_command(java: Path, libs: Path, logs: Path) -> list[str]:
    return [
        str(java),
        "-Xmx512m",
        # Two cores are shared with the workers; the serial collector starts faster, has no threads of its own beside
        # them, and holds less beyond the heap.
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        f"-Dlog4j2.configurationFile={KAFKA_FILES / 'log4j2.xml'}",
        f"-Dqrstream.logs={logs}",
        *("-cp", f"{libs}/*"),
    ]


def _ports(folder: Path, wanted: int | None, taken: frozenset[int]) -> tuple[int, int]:
    """The port for clients and the controller's."""
    if wanted is not None:
        if wanted in taken or not is_free(wanted):
            msg = f"port {wanted} is in use: stop what listens on it, or choose another for the local broker"
            raise LocalBrokerError(msg)
        port = wanted
    else:
        last = _last_port(folder)
        reusable = last is not None and last not in taken and is_free(last)
        port = last if reusable and last is not None else free_ports(1, taken=taken)[0]
    return port, free_ports(1, taken=taken | {port})[0]


def _last_port(folder: Path) -> int | None:
    try:
        return int((folder / "port").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _lost_port(logs: Path) -> bool:
    return any("Address already in use" in line for line in _lines(logs))


def _last_line(logs: Path) -> str:
    errors = [line for line in _lines(logs) if " ERROR " in line or " FATAL " in line or "Exception" in line]
    return errors[-1].strip() if errors else "no reason given"


def _lines(logs: Path) -> list[str]:
    lines: list[str] = []
    for name in ("console.log", "broker.log"):
        with contextlib.suppress(OSError):
            lines += (logs / name).read_text(encoding="utf-8", errors="replace").splitlines()
    return lines
