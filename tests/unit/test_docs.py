"""Pages that name tests and modules name ones that are there."""

from __future__ import annotations

import re
from pathlib import Path

from streams.dead_letters import letter

ROOT = Path(__file__).parents[2]


def test_every_test_that_a_page_names_exists() -> None:
    defined = {name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())}
    files = {file.name for file in (ROOT / "tests").rglob("test_*.py")}
    named = {(page.name, name) for page in (ROOT / "docs").rglob("*.md") for name in re.findall(r"`(test_\w+(?:\.py)?)`", page.read_text())}
    assert {(page, name) for page, name in named if name not in defined and name not in files} == set()
    assert ("ownership.md", "test_kill_minus_nine_twice_between_the_first_and_the_last_outcome") in named


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        (page.name, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_page_of_events_shows_every_header_of_a_dead_letter() -> None:
    assert letter.table() in (ROOT / "docs" / "events.md").read_text()
