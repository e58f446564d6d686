"""Kafka's jars, brought once by Maven into a folder of the project."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from streams.local_broker.errors import LocalBrokerError

PROJECT = Path(__file__).resolve().parents[2]
KAFKA_FILES = PROJECT / "ops" / "local"
JARS = PROJECT / ".qrstream" / "kafka"

# A first run brings about 45 MB and Maven's own plugins; slower than this, something is wrong.
_MAVEN_SECONDS = 900


def kafka_jars(java: Path, *, folder: Path = JARS) -> Path:
    """The folder that holds all jars of the broker's class path, filled by Maven when it is not there yet.

    The folder's name carries a digest of ops/local/pom.xml, so that another Kafka version is another folder.
    Raises LocalBrokerError when Maven is missing or fails.
    """
    pom = KAFKA_FILES / "pom.xml"
    if not pom.is_file():
        msg = f"{pom} is missing: a local broker needs the project's checkout, or set QR_BROKER to a broker's host:port"
        raise LocalBrokerError(msg)
    libs = folder / f"libs-{hashlib.sha256(pom.read_bytes()).hexdigest()[:12]}"
    if libs.is_dir():
        return libs
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            # Two first starts at once (a worker's and a test's) bring the jars once.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not libs.is_dir():
                _bring(pom, java, libs)
    except OSError as error:
        msg = f"cannot keep Kafka's jars in {folder}: {error.strerror or error}"
        raise LocalBrokerError(msg) from error
    return libs


def _bring(pom: Path, java: Path, libs: Path) -> None:
    with tempfile.TemporaryDirectory(dir=libs.parent, prefix="bringing-") as unfinished:
        jars = Path(unfinished, "libs")
        command = [
            *(_maven(), "--quiet", "--batch-mode", "--file", str(pom)),
            *("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}"),
        ]
        environment = dict(os.environ, JAVA_HOME=str(java.resolve().parents[1]))
        try:
            # S603: every word of the command is ours.
            subprocess.run(  # noqa: S603
                command, env=environment, capture_output=True, text=True, timeout=_MAVEN_SECONDS, check=True
            )
        except subprocess.TimeoutExpired as error:
            msg = f"Maven did not bring Kafka's jars within {_MAVEN_SECONDS} s: check the network, or set QR_BROKER"
            raise LocalBrokerError(msg) from error
        except subprocess.CalledProcessError as error:
            msg = f"Maven could not bring Kafka's jars ({_first_error(error.stdout)}): check the network, or set QR_BROKER"
            raise LocalBrokerError(msg) from error
        # The rename makes a half-filled folder impossible, whenever the run is killed.
        jars.rename(libs)


def _maven() -> str:
    wrapper = PROJECT / "mvnw"
    if wrapper.is_file():
        return str(wrapper)
    if maven := shutil.which("mvn"):
        return maven
    msg = (
        "no Maven to bring Kafka's jars with: install Maven (mvn), or start Docker, "
        "or set QR_BROKER to a broker's host:port"
    )
    raise LocalBrokerError(msg)


def _first_error(output: str) -> str:
    lines = (line.removeprefix("[ERROR]").strip() for line in output.splitlines() if line.startswith("[ERROR]"))
    return next(filter(None, lines), "no reason given")
