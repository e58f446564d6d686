"""The journal of a process that is really killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from streams.ownership.ownership import Claim
from streams.rendering.journal import Journal
from streams.rendering.journal_file import Noted

pytestmark = [pytest.mark.integration, pytest.mark.long]
CLAIM = Claim("render", "qr.render.requested", "uuid", "changelog", 0, generation=1)
BEGIN = """
import sys
from pathlib import Path
from streams.rendering.journal import Journal
from tests.integration.test_rendering_journal import CLAIM

journal = Journal(Path(sys.argv[1]))
if sys.argv[2] == "many":
    print("begins", flush=True)
    for offset in range(10_000_000):
        journal.begins(CLAIM, [offset])
        journal.ended(CLAIM)
journal.begins(CLAIM, [int(offset) for offset in sys.argv[2].split(",")])
print("begun", flush=True)
sys.stdin.read()
"""


def kill_after_its_line(folder: Path, offsets: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BEGIN, str(folder), offsets], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"beg")
        process.kill()


def test_notes_outlive_kill_minus_nine_and_count_the_record_that_was_alone(tmp_path: Path) -> None:
    kill_after_its_line(tmp_path, "5,6")
    assert Journal(tmp_path).after_unclean_exit(CLAIM) == {5: 1, 6: 1}
    kill_after_its_line(tmp_path, "5")
    kill_after_its_line(tmp_path, "5")
    assert Journal(tmp_path).after_unclean_exit(CLAIM) == {5: 3, 6: 1}


def test_a_kill_at_any_moment_blames_at_most_the_record_in_flight(tmp_path: Path) -> None:
    kill_after_its_line(tmp_path, "many")
    journal = Journal(tmp_path)
    suspects = journal.after_unclean_exit(CLAIM)
    assert list(suspects.values()) in ([], [1])
    assert journal.last_exit(CLAIM) in ({Noted.IDLE, None} if not suspects else {Noted.IN_FLIGHT})
