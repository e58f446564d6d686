"""The README's Python does what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from streams.local_run.worker_process import WorkerProcess
from tests.support.broker import Names
from tests.support.command_line import PATIENCE_S, PROJECT, CommandLine

pytestmark = pytest.mark.integration


def test_publishing_and_consuming_from_python_prints_the_artifacts_first_bytes(broker: str, names: Names, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    environment = {"QR_TOPIC_PREFIX": names.topic_prefix, "QR_APP_ID": names.app_id, "QR_PARTITIONS": "2", "QR_OUTPUT_PARTITIONS": "2"}
    shell = CommandLine({"QR_BROKER": broker, **environment})
    shell.run("topics", "create").check_returncode()
    worker = WorkerProcess(broker=broker, data_dir=tmp_path / "worker", log=tmp_path / "worker.log", environment=environment)
    worker.start()
    try:
        assert worker.wait_for_line("partition_opened", PATIENCE_S)
        done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, env=shell.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    finally:
        worker.stop()
    assert done.stderr == ""
    assert done.stdout == "True image/svg+xml b'<?xm'\n"
