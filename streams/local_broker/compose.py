"""A broker in Docker, from the project's docker-compose.yml."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from streams.local_broker.errors import LocalBrokerError
from streams.local_broker.jars import PROJECT
from streams.local_broker.ports import LOOPBACK, free_ports, is_free
from streams.local_broker.readiness import answers

COMPOSE_FILE = PROJECT / "docker-compose.yml"
SERVICE = "kafka"
# docker-compose.yml publishes the broker on this port of the loopback unless the variable says another.
DEFAULT_PORT = 9092
PORT_VARIABLE = "KAFKA_PORT"

# `docker info` waits long for an engine whose socket exists but is stuck; a healthy one answers in well under a second.
_ENGINE_SECONDS = 5.0
# The first start pulls an image of 400 MB.
_UP_SECONDS = 900.0
_READY_SECONDS = 120.0
_POLL_SECONDS = 0.2


class ComposeBroker:
    """The compose file's broker: `bootstrap` is its host:port; `stop` stops it only where `start` started it."""

    def __init__(self, bootstrap: str, *, ours: bool) -> None:
        self.bootstrap = bootstrap
        self._ours = ours

    @classmethod
    def start(cls) -> ComposeBroker:
        """Start the service, or join it where it runs already, and wait until it answers.

        Its records are in the compose project's volume. Raises LocalBrokerError with compose's reason in one line.
        """
        running = _compose("ps", "--quiet", "--status", "running", SERVICE).strip()
        if running:
            port = int(_compose("port", SERVICE, str(DEFAULT_PORT)).strip().rpartition(":")[2])
        else:
            port = DEFAULT_PORT if is_free(DEFAULT_PORT) else free_ports(1)[0]
            _compose("up", "--detach", SERVICE, port=port, timeout=_UP_SECONDS)
        broker = cls(f"{LOOPBACK}:{port}", ours=not running)
        deadline = time.monotonic() + _READY_SECONDS
        while not answers(broker.bootstrap):
            if time.monotonic() >= deadline:
                broker.stop()
                msg = f"the broker in Docker did not answer within {_READY_SECONDS:.0f} s: see docker compose logs {SERVICE}"
                raise LocalBrokerError(msg)
            time.sleep(_POLL_SECONDS)
        return broker

    def stop(self) -> None:
        """Stop the service if this object started it; its volume stays. Does nothing a second time."""
        if self._ours:
            self._ours = False
            _compose("stop", SERVICE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def engine_answers() -> bool:
    """Whether there is a docker client with compose, an engine behind it, and our compose file.

    The client alone is common: it is installed where the engine is on another machine, or stopped.
    """
    docker = shutil.which("docker")
    if docker is None or not COMPOSE_FILE.is_file():
        return False
    for question in (("info",), ("compose", "version")):
        try:
            # S603: every word is ours.
            subprocess.run([docker, *question], capture_output=True, timeout=_ENGINE_SECONDS, check=True)  # noqa: S603
        except (OSError, subprocess.SubprocessError):
            return False
    return True


def _compose(*words: str, port: int | None = None, timeout: float = 60.0) -> str:
    environment = dict(os.environ) if port is None else {**os.environ, PORT_VARIABLE: str(port)}
    try:
        # S603, S607: every word is ours; engine_answers found the program on PATH.
        done = subprocess.run(  # noqa: S603
            ["docker", "compose", "--file", str(Path(COMPOSE_FILE)), *words],  # noqa: S607
            env=environment, capture_output=True, text=True, timeout=timeout, check=True,
        )
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["no reason given"]
        msg = f"docker compose {words[0]} failed ({lines[-1]}): mend it, stop the engine, or set QR_BROKER"
        raise LocalBrokerError(msg) from error
    except subprocess.TimeoutExpired as error:
        msg = f"docker compose {words[0]} took longer than {timeout:.0f} s: stop the engine, or set QR_BROKER"
        raise LocalBrokerError(msg) from error
    return done.stdout
