"""Ten runs of random faults; see chaos_run.py, which runs one by itself."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from tests.chaos.chaos_run import Report, chaos
from tests.support.broker import Names
from tests.support.stream_run import stream_run

pytestmark = [pytest.mark.integration, pytest.mark.long, pytest.mark.timeout(1200)]

SEEDS = range(1, 11)
REQUESTS = 10_000
SECONDS = 40.0
reports: dict[int, Report] = {}


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_doubled_or_invented(broker: str, names: Names, tmp_path: Path, seed: int) -> None:
    with stream_run(broker, names, tmp_path) as run:
        report = reports[seed] = chaos(run, seed, REQUESTS, SECONDS)
    assert report.promise_kept, f"{asdict(report)}\nagain: python -m tests.chaos.chaos_run {seed} {REQUESTS} {SECONDS:g}"


def test_the_runs_have_aborted_transactions_and_redelivered_events() -> None:
    if sorted(reports) != list(SEEDS):
        pytest.skip(f"sums up all ten runs, and {len(reports)} were made")
    assert sum(report.aborted for report in reports.values()) > 0
    assert sum(report.redelivered for report in reports.values()) > 0
