"""Producers of other languages, as their registries have them, at the intake: JSON and Avro, each key answered once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import plain_avro
from tests.support.oracle import judge
from tests.support.stream_run import StreamRun, clean_environment
from tests.support.submissions import expected
from tests.support.warm_process import PROJECT

pytestmark = [pytest.mark.integration, pytest.mark.long, pytest.mark.timeout(900)]

PRODUCERS = Path(__file__).with_name("stock_producers")
SCHEMA = PROJECT / "schemas" / "avsc" / "RenderSubmitted.avsc"
COUNT = 50


def framing() -> str:
    """What an Avro submission begins with, as hex."""
    return plain_avro._header("RenderSubmitted").hex()


def run(command: list[str], folder: Path, within_s: float = 300) -> None:
    """One step of a producer's, in its folder; what it says is shown if it fails."""
    ended = subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, text=True, timeout=within_s, check=False)
    assert ended.returncode == 0, f"{' '.join(command)}\n{ended.stdout[-2000:]}\n{ended.stderr[-2000:]}"


def copied(language: str, tmp_path: Path) -> Path:
    """The producer's folder for this test alone, since what it installs goes beside it."""
    return Path(shutil.copytree(PRODUCERS / language, tmp_path / language))


def all_is_well(stream: StreamRun, language: str) -> None:
    """Each key of both forms has one completed event whose symbol says the content."""
    wanted = {
        outcome.request_id: outcome
        for form in ("json", "avro")
        for number in range(COUNT)
        for outcome in [expected({"tenant": language, "idempotency_key": f"{form} {number} 🧾", "content": f"https://example.com/{language}/{number}"})]
    }
    worker = stream.start("--agent", "intake")
    stream.wait_outcomes(len(wanted), worker)
    stream.end()
    verdict = judge(wanted, set(), stream.outcomes.to_end())
    assert not verdict.faults, f"{verdict.faults}\n{stream.rerun()}"
    assert verdict.by_source == {"rendered": COUNT, "cache": COUNT}
    assert stream.letters() == []


@pytest.mark.skipif(shutil.which("npm") is None, reason="no Node.js with npm here")
def test_node_with_kafkajs_and_avsc(stream: StreamRun, tmp_path: Path) -> None:
    folder = copied("node", tmp_path)
    run(["npm", "ci", "--no-progress"], folder)
    run(["node", "producer.js", stream.bootstrap, stream.intake, str(SCHEMA), framing(), str(COUNT)], folder)
    all_is_well(stream, "node")


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go here")
def test_go_with_franz_go_and_hamba_avro(stream: StreamRun, tmp_path: Path) -> None:
    folder = copied("go", tmp_path)
    run(["go", "build", "-o", "producer", "."], folder, within_s=600)
    run([str(folder / "producer"), stream.bootstrap, stream.intake, str(SCHEMA), framing(), str(COUNT)], folder)
    all_is_well(stream, "go")


@pytest.mark.skipif(shutil.which("mvn") is None or shutil.which("java") is None, reason="no Java with Maven here")
def test_java_with_kafka_clients_and_avro(stream: StreamRun, tmp_path: Path) -> None:
    folder = copied("java", tmp_path)
    run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], folder)
    run(["java", "-Dfile.encoding=UTF-8", "-cp", "lib/*", "StockProducer.java", stream.bootstrap, stream.intake, str(SCHEMA), framing(), str(COUNT)], folder)
    all_is_well(stream, "java")
