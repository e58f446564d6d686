"""How Kafka's programs are run: the Java, the class path, and the options that make a start cheap."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from streams.local_broker.jars import KAFKA_FILES, kafka_jars
from streams.local_broker.java import find_java


@dataclass(frozen=True, slots=True)
class Jvm:
    """A Java, a folder of jars, and the archive of Kafka's classes as this Java has laid them out (JEP 350).

    With `writes_archive` the program writes the archive when it ends; otherwise it reads it, if it is there.
    """

    java: Path
    jars: Path
    archive: Path
    writes_archive: bool = False

    def command(self, main_class: str, *arguments: str, logs: Path) -> list[str]:
        """The words that run `main_class`, which logs into the folder `logs`."""
        return [
            str(self.java),
            "-Xmx512m",
            # One machine's cores are shared with the workers: a collector without threads of its own, and only the
            # first compiler. A start then takes half the CPU (21 s instead of 40 s of it, measured on slow shared
            # cores); what the second compiler gains shows at rates that one machine does not reach.
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            *self._archive_options(),
            f"-Dlog4j2.configurationFile={KAFKA_FILES / 'log4j2.xml'}",
            f"-Dqrstream.logs={logs}",
            # Listed and sorted: an archive is only read with the very class path it was written with.
            *("-cp", ":".join(map(str, sorted(self.jars.glob("*.jar"))))),
            main_class,
            *arguments,
        ]

    def _archive_options(self) -> list[str]:
        # An archive of another Java or of a moved folder is passed over; that is no news to anyone.
        quiet = ["-Xlog:disable", "-Xlog:all=error:stderr"]
        if self.writes_archive:
            return [f"-XX:ArchiveClassesAtExit={self.archive}", *quiet]
        if self.archive.is_file():
            return [f"-XX:SharedArchiveFile={self.archive}", *quiet]
        return []


def installed_jvm() -> Jvm:
    """The Java and the jars of this machine; the jars are brought at the first use.

    Raises LocalBrokerError when either cannot be had.
    """
    java = find_java()
    jars = kafka_jars(java)
    real = java.resolve()
    # The modification time tells an upgraded Java in the same place.
    identity = hashlib.sha256(f"{real}\0{real.stat().st_mtime_ns}\0{jars}".encode()).hexdigest()[:12]
    return Jvm(java, jars, jars.with_name(f"{jars.name}-{identity}.jsa"))
