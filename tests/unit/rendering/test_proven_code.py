"""A child whose files have made the golden vectors need not make them again; one of other files must."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from streams.rendering import child
from streams.rendering.child_process import ChildTerms
from streams.rendering.renderer import Renderer
from streams.settings import load_settings


def test_the_code_of_a_child_is_another_once_a_loaded_file_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = ModuleType("loaded")
    loaded.__file__ = str(tmp_path / "loaded.py")
    before = child._code()
    monkeypatch.setitem(sys.modules, "loaded", loaded)
    assert child._code() == before  # no such file: an archive
    Path(loaded.__file__).write_text("A = 1\n")
    os.utime(loaded.__file__, ns=(0, 0))
    first = child._code()
    assert (first, len(first)) == (child._code(), 64)
    os.utime(loaded.__file__, ns=(0, 1))
    assert child._code() not in {before, first}


def test_a_child_is_told_which_code_has_been_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []

    class Child:
        memory_bounded = True
        alive = False

        def __init__(self, terms: ChildTerms) -> None:
            told.append(terms.proven)
            self.code = f"files {len(told)}"

        def kill(self) -> None: ...

        def stop(self) -> None: ...

    monkeypatch.setattr("streams.rendering.renderer.ChildProcess", Child)
    renderer = Renderer(load_settings())
    for _ in range(3):
        renderer.start()
    renderer.close()
    assert told == [None, "files 1", "files 2"]
