"""Commands run in this process, without a broker."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from streams.cli.main import run


@dataclass(frozen=True)
class Ran:
    """What a command has left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


@pytest.fixture
def qrstream(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ran]:
    """Run `qrstream ARGUMENTS` in an empty folder, with no settings but the given ones."""
    for name in [name for name in os.environ if name.startswith("QR_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    def ran(*arguments: str, **environment: str) -> Ran:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = run(arguments)
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return ran
