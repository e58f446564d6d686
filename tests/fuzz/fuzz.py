"""Look for inputs that break a reader: python tests/fuzz/fuzz.py TARGET [options of libFuzzer].

TARGET is a name in targets.py. It runs until Ctrl-C, or as long as -max_total_time=SECONDS says. An input that breaks
something is written to ./crash-…; repair the cause and keep the input in tests/fuzz/corpus/TARGET, where an ordinary test
replays it. Needs atheris (requirements-dev.in says for which platform).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

with atheris.instrument_imports(include=["processors", "schemas"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Run libFuzzer on one target."""
    if len(sys.argv) == 1 or sys.argv[1] not in TARGETS:
        sys.exit(f"fuzz: name a target: {', '.join(TARGETS)}")
    name, *options = sys.argv[1:]
    # libFuzzer writes what it finds into the first folder: one of its own, so that the kept corpus stays small.
    found = tempfile.mkdtemp(prefix=f"fuzz-{name}-")
    print(f"fuzz: inputs that reach new code are written to {found}")
    atheris.Setup([sys.argv[0], "-max_len=4096", "-timeout=20", *options, found, str(HERE / "corpus" / name)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
