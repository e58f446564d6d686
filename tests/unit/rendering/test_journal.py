"""What the journal says after an end of the process, at any byte of any write."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from structlog.testing import capture_logs

from streams.exit_codes import ExitCode
from streams.ownership.ownership import Claim
from streams.rendering.journal import UNKNOWN_AHEAD, Journal, JournalUnusable, ranges_of, with_one_more_death
from streams.rendering.journal_file import MOST_RANGES, MOST_SUSPECTS, Note, Noted

CLAIM = Claim("render", "qr.render.requested", "Zk-9_uuid", "changelog", 3, generation=7)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


def after_a_kill(tmp_path: Path) -> Journal:
    """Another process's view: what the first has in memory is gone."""
    return Journal(tmp_path)


def test_a_new_partition_has_no_suspects(journal: Journal) -> None:
    assert journal.last_exit(CLAIM) is None
    assert journal.after_unclean_exit(CLAIM) == {}


def test_offsets_in_flight_at_a_kill_have_seen_one_death(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100, 101, 103])
    killed = after_a_kill(tmp_path)
    assert killed.last_exit(CLAIM) is Noted.IN_FLIGHT
    assert killed.after_unclean_exit(CLAIM) == {100: 1, 101: 1, 103: 1}
    assert killed.after_unclean_exit(CLAIM, position=101) == {101: 1, 103: 1}


def test_committed_offsets_are_no_suspects(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100, 101])
    journal.ended(CLAIM)
    killed = after_a_kill(tmp_path)
    assert killed.last_exit(CLAIM) is Noted.IDLE
    assert killed.after_unclean_exit(CLAIM) == {}


def test_a_clean_stop_is_told_from_a_kill_with_nothing_in_flight(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100])
    journal.ended(CLAIM)
    journal.close()
    stopped = Journal(tmp_path)
    assert stopped.last_exit(CLAIM) is Noted.CLEAN
    assert after_a_kill(tmp_path).last_exit(CLAIM) is Noted.IDLE


def test_only_the_record_that_was_handled_alone_sees_the_next_deaths(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100, 101, 102])
    second = after_a_kill(tmp_path)
    second.begins(CLAIM, [100])
    second.ended(CLAIM)
    second.begins(CLAIM, [101])
    third = after_a_kill(tmp_path)
    assert third.after_unclean_exit(CLAIM) == {101: 2, 102: 1}
    third.begins(CLAIM, [101])
    assert after_a_kill(tmp_path).after_unclean_exit(CLAIM) == {101: 3, 102: 1}


def test_starts_that_end_before_anything_is_handled_count_nothing(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100])
    for _ in range(5):
        assert after_a_kill(tmp_path).after_unclean_exit(CLAIM) == {100: 1}


def test_an_exception_is_no_death(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100])
    second = after_a_kill(tmp_path)
    second.begins(CLAIM, [100])
    second.ended(CLAIM, committed=False)
    assert after_a_kill(tmp_path).after_unclean_exit(CLAIM) == {100: 1}


def test_an_end_that_the_worker_chose_is_no_death(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100])
    journal.withdraw_all()
    assert after_a_kill(tmp_path).after_unclean_exit(CLAIM) == {}


def test_a_commit_clears_and_going_on_beyond_clears(journal: Journal, tmp_path: Path) -> None:
    journal.begins(CLAIM, [100, 101, 102])
    second = after_a_kill(tmp_path)
    second.begins(CLAIM, [100])
    second.ended(CLAIM)
    assert second.after_unclean_exit(CLAIM) == {101: 1, 102: 1}
    second.begins(CLAIM, [102])
    second.withdraw_all()
    assert second.after_unclean_exit(CLAIM) == {102: 1}


def test_partitions_and_topics_of_the_same_name_are_told_apart(journal: Journal, tmp_path: Path) -> None:
    others = [Claim("render", CLAIM.source, "another", "changelog", 3, 7), Claim("render", CLAIM.source, CLAIM.source_id, "changelog", 4, 7)]
    journal.begins(CLAIM, [1])
    assert [after_a_kill(tmp_path).after_unclean_exit(other) for other in others] == [{}, {}]


@pytest.mark.parametrize("damage", [b"", b"\0" * 8192, b"x" * 8192, b"short"], ids=["empty", "zeros", "noise", "short"])
def test_a_journal_that_cannot_be_read_is_a_warning_and_caution(journal: Journal, tmp_path: Path, damage: bytes) -> None:
    journal.begins(CLAIM, [100])
    [file] = tmp_path.iterdir()
    file.write_bytes(damage)
    for _ in range(2):
        with capture_logs() as logs:
            damaged = Journal(tmp_path)
            assert damaged.after_unclean_exit(CLAIM, position=70) == dict.fromkeys(range(70, 70 + UNKNOWN_AHEAD), 0)
        assert [(line["event"], line["log_level"]) for line in logs] == [("journal_unreadable", "warning")]
        assert damaged.last_exit(CLAIM) is Noted.UNREADABLE
        damaged.close()
    again = Journal(tmp_path)
    again.begins(CLAIM, [70])
    again.ended(CLAIM)
    assert again.after_unclean_exit(CLAIM, position=71) == dict.fromkeys(range(71, 70 + UNKNOWN_AHEAD), 0)
    again.begins(CLAIM, [71])
    assert after_a_kill(tmp_path).after_unclean_exit(CLAIM, position=71) == {71: 1, **dict.fromkeys(range(72, 70 + UNKNOWN_AHEAD), 0)}


def test_a_journal_that_cannot_be_written_is_one_line_and_an_exit_code(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnusable, match=r"the journal .*Zk-9_uuid-3\.journal cannot be written: Not a directory; set QR_DATA_DIR") as caught:
        Journal(tmp_path / "file" / "journal").begins(CLAIM, [1])
    assert caught.value.exit_code is ExitCode.DATA_FOLDER


@pytest.mark.parametrize("step", ["begins", "ended"])
def test_a_kill_at_any_byte_of_a_write_leaves_the_note_before_or_after(tmp_path: Path, step: str) -> None:
    first = Journal(tmp_path / "first")
    first.begins(CLAIM, [7, 8, 10])
    journal = after_a_kill(tmp_path / "first")
    journal.begins(CLAIM, [7])
    if step == "begins":
        journal.ended(CLAIM)
    [file] = (tmp_path / "first").iterdir()
    before = file.read_bytes()
    if step == "begins":
        journal.begins(CLAIM, [8])
    else:
        journal.ended(CLAIM)
    after = file.read_bytes()
    unwritten, written = ({8: 1, 10: 1}, {8: 2, 10: 1}) if step == "begins" else ({7: 2, 8: 1, 10: 1}, {8: 1, 10: 1})
    changed = [place for place, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    assert len(changed) > 4
    copy = tmp_path / "copy" / file.name
    copy.parent.mkdir()
    for cut in range(changed[0], changed[-1] + 2):
        copy.write_bytes(after[:cut] + before[cut:])
        assert Journal(copy.parent).after_unclean_exit(CLAIM, position=0) == (written if cut > changed[-1] else unwritten)


def test_many_ranges_are_covered_by_the_most_that_fit(tmp_path: Path) -> None:
    offsets = [number * 3 + (1_000_000 if number > 300 else 0) for number in range(600)]
    ranges = ranges_of(offsets)
    assert len(ranges) == MOST_RANGES
    assert all(any(first <= offset <= last for first, last in ranges) for offset in offsets)
    assert any(last == 900 for _, last in ranges)
    suspects = with_one_more_death((), ranges)
    assert len(suspects) == MOST_SUSPECTS
    assert all(any(first <= offset <= last and deaths == 1 for first, last, deaths in suspects) for offset in offsets)
    Journal(tmp_path).begins(CLAIM, offsets)
    found = after_a_kill(tmp_path).after_unclean_exit(CLAIM)
    assert set(offsets) <= found.keys()
    assert len(found) < 2_000


def test_the_largest_note_fits_into_its_slot() -> None:
    ranges = tuple((2**63 + 2 * number, 2**63 + 2 * number) for number in range(MOST_RANGES))
    suspects = tuple((2**63 + 2 * number, 2**63 + 2 * number, 3) for number in range(MOST_SUSPECTS))
    note = Note(Noted.IN_FLIGHT, ranges, suspects)
    assert len(note.encoded()) + 18 <= 4096
    assert Note.decoded(note.encoded()) == note


def test_joined_suspects_never_have_more_deaths_than_each_had() -> None:
    suspects = tuple((number, number, 1 + number % 2) for number in range(40))
    joined = with_one_more_death(suspects, ((100, 100), (200, 200)))
    assert len(joined) == MOST_SUSPECTS
    assert all(deaths <= had for first, last, deaths in joined for begin, _, had in suspects if first <= begin <= last)
    assert joined[-1] == (100, 200, 1)


class JournalMachine(RuleBasedStateMachine):
    """Batches from the position, commits, abandonments, kills at any byte of a write, against plain dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.journal = Journal(self.folder)
        self.position = 0
        self.in_flight: list[int] = []
        self.deaths: dict[int, int] = {}

    @precondition(lambda self: not self.in_flight)
    @rule(gaps=st.lists(st.sampled_from([1, 1, 1, 2, 5]), min_size=1, max_size=30))
    def begin(self, gaps: list[int]) -> None:
        offsets = [self.position + sum(gaps[:place]) for place in range(1, len(gaps) + 1)]
        self.journal.begins(CLAIM, offsets)
        self.in_flight = offsets
        self.position = offsets[0]

    @precondition(lambda self: self.in_flight)
    @rule(committed=st.booleans())
    def end(self, committed: bool) -> None:
        self.journal.ended(CLAIM, committed=committed)
        if committed:
            self.position = self.in_flight[-1] + 1
        self.in_flight = []

    @rule()
    def kill(self) -> None:
        self._died()
        self.journal = Journal(self.folder)

    @precondition(lambda self: not self.in_flight)
    @rule(cut=st.integers(0, 8192))
    def kill_while_beginning(self, cut: int) -> None:
        self.journal.after_unclean_exit(CLAIM)
        [file] = self.folder.iterdir()
        before = file.read_bytes()
        self.journal.begins(CLAIM, [self.position])
        after = file.read_bytes()
        torn = after[:cut] + before[cut:]
        file.write_bytes(torn)
        self.in_flight = [self.position] if torn == after else []
        self._died()
        self.journal = Journal(self.folder)

    @precondition(lambda self: not self.in_flight)
    @rule()
    def stop(self) -> None:
        self.journal.close()
        self.journal = Journal(self.folder)

    @invariant()
    def the_journal_knows_who_died(self) -> None:
        known = {offset: deaths for offset, deaths in self.journal.after_unclean_exit(CLAIM, self.position).items() if deaths}
        expected = {offset: deaths for offset, deaths in self.deaths.items() if offset >= (self.in_flight or [self.position])[0]}
        assert known == expected

    def _died(self) -> None:
        for offset in self.in_flight:
            self.deaths[offset] = self.deaths.get(offset, 0) + 1
        self.in_flight = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


TestJournalMachine = JournalMachine.TestCase
TestJournalMachine.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
