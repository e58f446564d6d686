"""`qrstream dlq` on the real stream: real letters of a real worker, replays that are killed, paused and run side by side.

Everything happens once, in the fixture: letters are made by a worker whose renderer is broken, replayed while no
worker runs, and answered by a sound one. The tests then look at what there is, read_committed and without any code
of the command.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from streams.cli.main import run as run_command
from streams.exit_codes import ExitCode
from streams.topics import DISPOSITIONS, OUTPUT_LIMIT
from tests.support import plain_avro
from tests.support.broker import unique_names
from tests.support.command_line import CommandLine, json_lines
from tests.support.faulty_worker import CRASHED
from tests.support.independent_hash import content_hash
from tests.support.outcome_reader import topic_records
from tests.support.publisher import request
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun, Worker, clean_environment, stream_run
from tests.support.warm_process import PROJECT

pytestmark = [pytest.mark.integration, pytest.mark.long, pytest.mark.timeout(900)]

LETTERS = 7
"""Of each scenario; three go into one transaction (--rate 3)."""
SMALL_LIMIT = 20_000
SCENARIOS = ("twice", "killed-begun", "killed-committed", "terminals", "side-by-side")
RAW = ("paused", "no-fencing", "no-dispositions")
"""Scenarios of undecodable letters: nothing behind the replay would hide a second copy."""
THEIRS: list[tuple[str, bytes | None]] = [("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), ("x-theirs", b"\x00\xff"), ("x-null", None)]


@dataclass
class Desk:
    """A stream, the command on it, and what the scenarios have left."""

    run: StreamRun
    ran: dict[str, list[Any]] = field(default_factory=dict)

    def dlq(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command in this process: starting one takes longer than all that it does."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            for name in [name for name in os.environ if name.startswith("QR_")]:
                patch.delenv(name)
            for name, value in self.run.environment.items():
                patch.setenv(name, value)
            code = run_command(["dlq", *arguments])
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def faulty(self, *arguments: str) -> subprocess.Popen[str]:
        """The command with faults: options of tests.support.faulty_dlq, two hyphens, arguments of `qrstream dlq`."""
        at = arguments.index("--")
        return subprocess.Popen(
            [sys.executable, "-m", "tests.support.faulty_dlq", str(self.run.trace.path), *arguments[:at], "--", "dlq", *arguments[at + 1 :]],
            cwd=PROJECT, env={**clean_environment(), **self.run.environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )

    def ended(self, process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        out, err = process.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def paused(self, *arguments: str) -> subprocess.Popen[str]:
        process = self.faulty(*arguments)
        self.run.wait(lambda: self.run.trace.events("paused", pid=process.pid) or process.poll() is not None, "the command is paused", DEADLINE_S)
        assert process.poll() is None, self.ended(process)
        return process

    def resumed(self, process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        process.send_signal(signal.SIGCONT)
        return self.ended(process)

    def records(self, topic: str) -> list[Any]:
        """Of one topic, read_committed."""
        return [*topic_records(self.run.bootstrap, {topic: PARTITIONS})]

    def names_of(self, scenario: str) -> list[str]:
        """Letters whose value is a scenario's undecodable bytes."""
        return [f"{letter.partition()}-{letter.offset()}" for letter in self.run.letters() if (letter.value() or b"").startswith(f"\x00{scenario} ".encode())]

    def replays(self, tenant: str) -> list[dict[str, Any]]:
        """Requests of a tenant with a generation above 0, from the requested topic."""
        found = []
        for message in self.records(self.run.requested):
            headers = dict(message.headers() or [])
            if headers.get("qr-generation", b"0") != b"0" and message.value() is not None:
                fields = decoded(message.value())
                if fields.get("tenant") == tenant or message.value().startswith(f"\x00{tenant} ".encode()):
                    found.append({"key": message.key(), "value": message.value(), "headers": message.headers(), "partition": message.partition(), **fields})
        return found

    def dispositions(self) -> list[tuple[int, bytes, dict[str, Any]]]:
        """Partition, key and fields of every disposition, the compacted ones that are still there included."""
        topic = DISPOSITIONS.full_name(self.run.settings)
        return [(m.partition(), m.key(), plain_avro.decode("DlqDisposition", m.value())) for m in self.records(topic)]

    def outcomes(self, tenant: str) -> Counter[tuple[str, int, str]]:
        """How many outcomes there are of a tenant, by request id, generation and kind or code."""
        return Counter(
            (o.fields["request_id"], o.fields["generation"], o.fields.get("error_code") or "completed") for o in self.run.outcomes.to_end() if o.fields["tenant"] == tenant
        )


def decoded(value: bytes) -> dict[str, Any]:
    try:
        return plain_avro.decode("RenderRequested", value)
    except ValueError:
        return {}


def limit(run: StreamRun, topic: str, size: int) -> None:
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for future in run.admin.incremental_alter_configs([resource], request_timeout=30).values():
        future.result(30)


def record(request_id: str, tenant: str, content: str | bytes, **options: Any) -> tuple[bytes, bytes]:
    fields = request(content, request_id, tenant=tenant, **options)
    return content_hash(fields).encode(), plain_avro.encode("RenderRequested", fields)


def publish_bad_records(run: StreamRun) -> int:
    """What the first worker makes letters of; how many."""
    send = run.publisher.publish_bytes
    sent = 0
    for tenant in ("looked-at", *SCENARIOS):
        for number in range(LETTERS):
            _, value = record(f"{tenant} {number}", tenant, f"https://example.com/{tenant}/{number}")
            send(f"wrong key of {tenant}".encode(), value, headers=THEIRS)  # one key: all letters in one partition
            sent += 1
    for scenario in RAW:
        for number in range(LETTERS):
            send(b"any key", f"\x00{scenario} {number}".encode(), headers=THEIRS)
            sent += 1
    for number in range(3):
        send(*record(f"render_failed {number}", "reasons", f"sound {number}"), headers=THEIRS)
    send(None, record("missing_key", "reasons", "no key")[1])
    send(b"", record("empty key", "reasons", "empty key")[1])
    send(*record("request_too_large", "reasons", b"\xff\xfe" * 600_000))
    key, value = record("wrong_partition", "reasons", "elsewhere")
    home, _ = send(*record("at home", "nobody", "elsewhere"))
    send(key, value, partition=(home + 1) % PARTITIONS, headers=[*THEIRS, ("qr-rerouted", b"0")])
    return sent + 3 + 4 + 1  # the one at home fails to render as well


def replay_everything(desk: Desk) -> None:
    """Every scenario, while no worker runs."""

    def order(scenario: str) -> list[str]:
        return ["replay", "--tenant", scenario, "--repair-key", "--rate", "3", "--yes", "--who", "ann", "--why", scenario]

    desk.ran["twice"] = [desk.dlq(*order("twice")), desk.dlq(*order("twice"))]
    desk.ran["killed-begun"] = [desk.ended(desk.faulty("--crash-in", "begun", "--nth", "2", "--", *order("killed-begun"))), desk.dlq(*order("killed-begun"))]
    desk.ran["killed-committed"] = [desk.ended(desk.faulty("--crash-in", "committed", "--nth", "2", "--", *order("killed-committed"))), desk.dlq(*order("killed-committed"))]
    first = desk.paused("--pause-in", "begun", "--nth", "2", "--", *order("terminals"))
    second = desk.dlq(*order("terminals"))
    desk.ran["terminals"] = [desk.resumed(first), second, desk.dlq(*order("terminals"))]
    both = [desk.faulty("--", *order("side-by-side")) for _ in range(2)]
    desk.ran["side-by-side"] = [*(desk.ended(one) for one in both), desk.dlq(*order("side-by-side"))]

    def raw(scenario: str) -> list[str]:
        return ["replay", *desk.names_of(scenario), "--raw", "--yes", "--rate", "0"]

    for scenario, without in (("paused", []), ("no-fencing", ["--without", "fencing"])):
        arguments = raw(scenario)
        first = desk.paused("--pause-in", "read", *without, "--", *arguments)
        second = desk.ended(desk.faulty(*without, "--", *arguments))
        desk.ran[scenario] = [desk.resumed(first), second]
    arguments = raw("no-dispositions")
    desk.ran["no-dispositions"] = [desk.ended(desk.faulty("--without", "dispositions", "--", *arguments)) for _ in range(2)]
    desk.ran["reasons"] = [
        desk.dlq("replay", "--tenant", "reasons", "--reason", reason, *options, "--yes", "--json")
        for reason, options in (("render_failed", []), ("missing_key", ["--repair-key"]), ("request_too_large", []), ("wrong_partition", []))
    ]


def too_large_for_a_while(desk: Desk, sound: Worker) -> None:
    """Letters that only a lowered limit makes: a value that was left out, and an output that was refused."""
    run = desk.run

    def letter(reason: bytes, key: bytes) -> str | None:
        found = [one for one in run.letters() if one.key() == key and dict(one.headers())["qr-dlq-reason"] == reason]
        return f"{found[0].partition()}-{found[0].offset()}" if found else None

    large = random.Random(1).randbytes(SMALL_LIMIT + 10_000)  # random: a topic's limit is on compressed bytes
    limit(run, run.dead_letters, SMALL_LIMIT)
    run.publisher.publish_bytes(b"left out", large, headers=THEIRS)
    left_out = run.wait(lambda: letter(b"undecodable", b"left out"), "a letter without its value", DEADLINE_S, sound)
    limit(run, run.dead_letters, OUTPUT_LIMIT)
    limit(run, run.completed, 300)
    key, value = record("output_too_large", "limits", "https://example.com/limits")
    run.publisher.publish_bytes(key, value)
    run.wait(lambda: letter(b"output_too_large", key), "a letter whose output was refused", DEADLINE_S, sound)
    limit(run, run.completed, OUTPUT_LIMIT)
    desk.ran["limits"] = [desk.dlq("export", left_out), desk.dlq("replay", left_out, "--raw", "--yes"), desk.dlq("replay", "--tenant", "limits", "--yes"), large]


@pytest.fixture(scope="module")
def desk(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with stream_run(broker, unique_names(), tmp_path_factory.mktemp("letters"), QR_TRANSACTION_TIMEOUT="60") as run:
        desk = Desk(run)
        broken = run.start("--failing-render", "render_failed")
        count = publish_bad_records(run)
        run.wait(lambda: len(run.letters()) >= count, f"{count} letters", DEADLINE_S, broken)
        run.wait(run.caught_up, "the broken worker has caught up", DEADLINE_S, broken)
        broken.terminate()
        replay_everything(desk)
        sound = run.start()
        run.wait_open(sound)
        too_large_for_a_while(desk, sound)
        run.wait(lambda: settled(run), "every request has been decided", DEADLINE_S, sound)
        sound.terminate()
        run.wait_no_open_transaction()
        yield desk


def settled(run: StreamRun) -> bool:
    """Whether the workers' positions reach the ends of the requested topic, commit markers counted."""
    ends, committed = run.stable_ends(run.requested), run.committed_offsets()
    return all(committed[partition] >= end - 1 for (_, partition), end in ends.items())


# Exactly once


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_letter_is_sent_once_and_gets_one_new_outcome(desk: Desk, scenario: str) -> None:
    replays = desk.replays(scenario)
    assert sorted(r["request_id"] for r in replays) == [f"{scenario} {number}" for number in range(LETTERS)]
    expected = {(f"{scenario} {number}", 0, "wrong_key"): 1 for number in range(LETTERS)} | {(f"{scenario} {number}", 1, "completed"): 1 for number in range(LETTERS)}
    assert desk.outcomes(scenario) == expected


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_letter_has_one_disposition_in_its_own_partition(desk: Desk, scenario: str) -> None:
    letters = {f"{desk.run.dead_letters}-{m.partition()}-{m.offset()}": m for m in desk.run.letters() if dict(m.headers()).get("qr-dlq-tenant") == scenario.encode()}
    found = [(partition, key, fields) for partition, key, fields in desk.dispositions() if fields["why"] == scenario]
    assert sorted(fields["letter"] for _, _, fields in found) == sorted(letters)
    assert len(letters) == LETTERS
    for partition, key, fields in found:
        letter = letters[fields["letter"]]
        assert (partition, key.decode()) == (letter.partition(), fields["letter"])
        assert (fields["action"], fields["generation"], fields["who"], fields["key_repaired"]) == ("replayed", 1, "ann", True)
        assert fields["target_topic"] == desk.run.requested
        (replay,) = [r for r in desk.replays(scenario) if r["value"] == letter.value()]
        assert fields["target_partition"] == replay["partition"]


def test_the_second_run_finds_nothing_to_do(desk: Desk) -> None:
    first, second = desk.ran["twice"]
    assert (first.returncode, first.stdout, first.stderr) == (0, f"{LETTERS} letters replayed by ann\n", "")
    assert (second.returncode, second.stdout, second.stderr) == (0, "0 letters replayed by ann\n", "")


def test_killed_with_a_transaction_open_the_next_run_sends_what_was_in_it(desk: Desk) -> None:
    killed, again = desk.ran["killed-begun"]
    assert killed.returncode == CRASHED
    assert (again.returncode, again.stdout) == (0, f"{LETTERS - 3} letters replayed by ann\n")


def test_killed_after_a_commit_the_next_run_goes_on_behind_it(desk: Desk) -> None:
    killed, again = desk.ran["killed-committed"]
    assert killed.returncode == CRASHED
    assert (again.returncode, again.stdout) == (0, f"{LETTERS - 6} letter replayed by ann\n")


def test_a_second_terminal_fences_the_first_which_ends_with_one_line(desk: Desk) -> None:
    first, second, third = desk.ran["terminals"]
    assert (second.returncode, second.stdout) == (0, f"{LETTERS - 3} letters replayed by ann\n")
    assert (first.returncode, first.stdout) == (ExitCode.FENCED, "")
    assert first.stderr.startswith("error fenced: another terminal has taken over the dead letters of partition ")
    assert first.stderr.count("\n") == 1
    assert "3 letters were settled before" in first.stderr
    assert (third.returncode, third.stdout) == (0, "0 letters replayed by ann\n")


def test_of_two_terminals_at_the_same_time_each_ends_well_or_fenced(desk: Desk) -> None:
    *both, third = desk.ran["side-by-side"]
    assert {one.returncode for one in both} <= {ExitCode.OK, ExitCode.FENCED}
    assert ExitCode.OK in {one.returncode for one in both}
    assert (third.returncode, third.stdout) == (0, "0 letters replayed by ann\n")


def new_letters(desk: Desk, scenario: str) -> Counter[tuple[bytes, int]]:
    """Letters of a scenario's undecodable bytes by value and generation."""
    return Counter(
        (letter.value(), int(dict(letter.headers())["qr-dlq-generation"])) for letter in desk.run.letters() if letter.value() and letter.value().startswith(f"\x00{scenario} ".encode())
    )


def test_a_terminal_that_slept_before_its_transaction_sends_nothing_twice(desk: Desk) -> None:
    first, second = desk.ran["paused"]
    assert (first.returncode, second.returncode) == (ExitCode.FENCED, ExitCode.OK)
    values = [f"\x00paused {number}".encode() for number in range(LETTERS)]
    assert new_letters(desk, "paused") == {**{(value, 0): 1 for value in values}, **{(value, 1): 1 for value in values}}


@pytest.mark.parametrize("scenario", ["no-fencing", "no-dispositions"])
def test_without_the_guard_undecodable_letters_come_back_twice(desk: Desk, scenario: str) -> None:
    assert [one.returncode for one in desk.ran[scenario]] == [ExitCode.OK, ExitCode.OK]
    values = [f"\x00{scenario} {number}".encode() for number in range(LETTERS)]
    assert new_letters(desk, scenario) == {**{(value, 0): 1 for value in values}, **{(value, 1): 2 for value in values}}


# What a replay is


def test_a_replay_has_the_letters_bytes_and_headers_and_the_next_generation(desk: Desk) -> None:
    for replay in desk.replays("twice"):
        assert replay["key"].decode() == content_hash(request(replay["content"], ""))
        assert replay["headers"] == [*THEIRS, ("qr-generation", b"1")]


def test_every_reason_that_has_a_failed_event_has_one_more_outcome(desk: Desk) -> None:
    assert [one.returncode for one in desk.ran["reasons"]] == [0, 0, 0, 0]
    assert [json_lines(one.stdout)[-1]["replayed"] for one in desk.ran["reasons"]] == [3, 2, 1, 1]
    failed = ["render_failed 0", "render_failed 1", "render_failed 2", "request_too_large", "wrong_partition"]
    first = {(name, 0, name.split(" ")[0]): 1 for name in failed} | {("missing_key", 0, "missing_key"): 1, ("empty key", 0, "missing_key"): 1}
    again = {(name, 1, "completed"): 1 for name in [*failed, "missing_key", "empty key"] if name != "request_too_large"}
    assert desk.outcomes("reasons") == {**first, **again, ("request_too_large", 1, "request_too_large"): 1}


def test_a_replay_that_fails_again_is_a_letter_of_the_next_generation(desk: Desk) -> None:
    generations = [dict(letter.headers())["qr-dlq-generation"] for letter in desk.run.letters() if dict(letter.headers()).get("qr-dlq-request-id") == b"request_too_large"]
    assert sorted(generations) == [b"0", b"1"]


def test_an_output_that_was_too_large_completes_once_the_limit_is_raised(desk: Desk) -> None:
    assert desk.outcomes("limits") == {("output_too_large", 0, "output_too_large"): 1, ("output_too_large", 1, "completed"): 1}


def test_a_value_that_was_left_out_is_fetched_from_its_source(desk: Desk) -> None:
    exported, replayed, _, large = desk.ran["limits"]
    (line,) = json_lines(exported.stdout)
    assert (exported.returncode, line["value_missing"], base64.b64decode(line["value_base64"])) == (0, False, large)
    assert replayed.returncode == 0, replayed.stderr
    letters = [letter for letter in desk.run.letters() if letter.key() == b"left out"]
    assert sorted((dict(letter.headers())["qr-dlq-generation"], letter.value()) for letter in letters) == [(b"0", None), (b"1", large)]


# Looking, exporting, setting aside


def listed(desk: Desk, *options: str) -> list[dict[str, Any]]:
    done = desk.dlq("list", "--json", *options)
    assert done.returncode == 0, done.stderr
    return json_lines(done.stdout)


def test_list_has_the_open_letters_that_fit(desk: Desk) -> None:
    open_letters = listed(desk, "--tenant", "looked-at", "--reason", "wrong_key", "--since", "1h")
    assert {letter["request_id"] for letter in open_letters} == {f"looked-at {number}" for number in range(LETTERS)}
    assert {letter["state"] for letter in open_letters} == {"open"}
    assert listed(desk, "--tenant", "looked-at", "--until", "1h") == []
    assert listed(desk, "--tenant", "twice") == []
    assert {letter["state"] for letter in listed(desk, "--tenant", "twice", "--all")} == {"replayed"}


def test_a_list_in_a_pipe_has_no_colour_and_cuts_nothing(desk: Desk) -> None:
    done = CommandLine(desk.run.environment).run("dlq", "list", "--tenant", "looked-at", "--limit", "3")
    *rows, last = done.stdout.splitlines()
    assert "\x1b" not in done.stdout
    assert rows[0].startswith("letter  ")
    assert len(rows) == 4
    assert last == f"{LETTERS} open letters, the newest 3 shown: wrong_key {LETTERS}"


def test_show_tells_everything_but_the_content(desk: Desk) -> None:
    (letter, *_) = [one for one in listed(desk, "--tenant", "looked-at") if one["request_id"] == "looked-at 3"]
    shown = desk.dlq("show", letter["letter"])
    assert shown.returncode == 0, shown.stderr
    for said in (letter["letter"], "wrong_key (poison)", "looked-at 3, tenant looked-at", "x-theirs: 0x00ff", "x-null: null", "wrong key of looked-at", "not shown; --content"):
        assert said in shown.stdout
    assert "example.com" not in shown.stdout
    assert "https://example.com/looked-at/3" in desk.dlq("show", letter["letter"], "--content").stdout
    settled_letter = listed(desk, "--tenant", "twice", "--all")[0]["letter"]
    assert "replayed by ann" in desk.dlq("show", settled_letter).stdout


def test_export_has_every_byte_of_undecodable_letters_too(desk: Desk, tmp_path: Path) -> None:
    names = desk.names_of("paused")[:LETTERS]
    file, folder = tmp_path / "letters.jsonl", tmp_path / "letters"
    assert desk.dlq("export", *names, "-o", str(file)).returncode == 0
    assert desk.dlq("export", *names, "--folder", str(folder)).returncode == 0
    lines = json_lines(file.read_text())
    assert {base64.b64decode(line["value_base64"]) for line in lines} == {f"\x00paused {number}".encode() for number in range(LETTERS)}
    for line in lines:
        assert base64.b64decode(line["key_base64"]) == b"any key"
        assert [(name, None if content is None else base64.b64decode(content)) for name, content in line["headers"]] == THEIRS
        assert (folder / f"{line['letter']}.value").read_bytes() == base64.b64decode(line["value_base64"])
        assert json.loads((folder / f"{line['letter']}.json").read_text())["key_base64"] == line["key_base64"]


def test_an_undecodable_letter_is_refused_without_raw_and_stays(desk: Desk) -> None:
    before = len(desk.dispositions())
    (name, *_) = [letter["letter"] for letter in listed(desk, "--reason", "undecodable") if letter["generation"] == 1]
    done = desk.dlq("replay", name, "--yes")
    assert (done.returncode, done.stderr.count("\n")) == (ExitCode.INCOMPLETE, 1)
    assert done.stderr.startswith("error undecodable: ")
    assert "--raw" in done.stderr
    assert len(desk.dispositions()) == before


def test_nothing_happens_without_yes(desk: Desk) -> None:
    before, ends = len(desk.dispositions()), desk.run.ends(desk.run.requested)
    replay = desk.dlq("replay", "--tenant", "looked-at", "--repair-key")
    discard = desk.dlq("discard", "--tenant", "looked-at", "--why", "a test")
    for done, verb in ((replay, "replayed"), (discard, "discarded")):
        assert done.returncode == 0
        assert f"{LETTERS} open letters would be {verb}" in done.stdout
        assert "nothing was written: this was a dry run" in done.stdout
    assert (len(desk.dispositions()), desk.run.ends(desk.run.requested)) == (before, ends)


def test_a_discarded_letter_is_neither_listed_nor_replayed_and_is_still_there(desk: Desk) -> None:
    (name,) = [one["letter"] for one in listed(desk, "--tenant", "looked-at") if one["request_id"] == "looked-at 0"]
    done = desk.dlq("discard", name, "--why", "a test of ours", "--who", "bob", "--yes")
    assert (done.returncode, done.stdout) == (0, "1 letter discarded by bob\n")
    assert name not in {one["letter"] for one in listed(desk, "--tenant", "looked-at")}
    again = desk.dlq("replay", name, "--yes")
    assert (again.returncode, again.stderr) == (0, f"{name}: already discarded; it is left as it is\n")
    ((_, _, fields),) = [one for one in desk.dispositions() if one[2]["letter"] == name]
    assert (fields["action"], fields["who"], fields["why"], fields["target_topic"]) == ("discarded", "bob", "a test of ours", None)
    exported = json_lines(desk.dlq("export", name).stdout)
    assert exported[0]["state"] == "discarded"
    assert sha256(base64.b64decode(exported[0]["value_base64"])).digest()
    assert desk.replays("looked-at") == []


def test_a_letter_that_is_not_there_is_one_line(desk: Desk) -> None:
    for arguments in (["show", "0-999999"], ["export", "0-999999"], ["replay", "99-0", "--yes"]):
        done = desk.dlq(*arguments)
        assert done.returncode == ExitCode.INCOMPLETE
        assert "error not_found: " in done.stderr
