"""The benchmark program measures what it names; what it measured is asserted nowhere."""

from __future__ import annotations

import json

import pytest

from streams.bench import render
from streams.bench.measurements import AIMS, MEASUREMENTS
from tests.support.command_line import CommandLine

pytestmark = [pytest.mark.integration, pytest.mark.long, pytest.mark.timeout(900)]


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_each_measurement_gives_the_figures_that_have_an_aim(broker: str, name: str) -> None:
    done = CommandLine({"QR_BROKER": broker}).run("bench", "pipeline", "--only", name, "--scale", "0.005", "--json")
    assert done.returncode == 0, done.stderr
    [(measured, figures)] = json.loads(done.stdout.splitlines()[-1]).items()
    assert measured == name
    assert {figure for of, figure in AIMS if of == name} <= set(figures)
    assert all(value > 0 for value in figures.values())


def test_the_renderers_figures_have_the_names_of_their_aims() -> None:
    done = CommandLine({}).run("bench", "render", "--scale", "0.001", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert set(figures) == set(render.AIMS)
    assert all(value > 0 for value in figures.values())
