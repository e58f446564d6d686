"""Letters in columns, and mistakes in the options of `qrstream dlq`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len

from streams.cli.dlq.table import Newest, Row, counts, lines_of, printable
from streams.exit_codes import ExitCode

ROW = Row("3-17", 1_764_400_000_123, "wrong_key", "acme", "order-00000000-with-a-long-name", "0", "open", "the record's key must be 68e7a732792992eaea08e08b0c08ab02")


@pytest.mark.parametrize(("width", "remark"), [(80, ""), (120, "message")])
def test_no_line_is_wider_than_the_terminal(width: int, remark: str) -> None:
    rows = [ROW, Row("12-34567", 0, "verification_failed", "t" * 100, "汉" * 100, "1", "discarded", "m" * 100)]
    lines = lines_of(rows, with_state=True, remark=remark, width=width)
    assert max(map(cell_len, lines)) <= width
    assert lines[1].startswith("3-17")


def test_nothing_is_cut_where_no_terminal_is() -> None:
    lines = lines_of([ROW], with_state=False, remark="message", width=None)
    assert lines[0].split() == ["letter", "failed", "at", "reason", "tenant", "request", "id", "gen", "message"]
    assert ROW.request_id in lines[1]
    assert lines[1].endswith(ROW.remark)


def test_columns_stand_under_their_heads() -> None:
    head, short, long = lines_of([ROW, Row("12-345678", 0, "undecodable", "-", "-", "0", "open", "")], with_state=False, remark="", width=None)
    assert head.index("reason") == short.index("wrong_key") == long.index("undecodable")


def test_a_record_cannot_move_the_cursor() -> None:
    assert printable("\x1b[2Jred\x9b\u202e\n") == "\\x1b[2Jred\\x9b\\u202e\\n"
    hostile = Row("3-17", 0, "\x1b[31m", "\x07", "a\nb", "0", "open", "\r")
    assert all(line.isprintable() for line in lines_of([hostile], with_state=True, remark="message", width=120))


def test_the_newest_are_kept_and_all_are_counted() -> None:
    newest = Newest(3)
    for number in [5, 1, 9, 7, 3]:
        newest.add(Row(f"0-{number}", number, "a" if number < 6 else "b", "", "", "", "", ""), number)
    assert [row.letter for row in newest.rows] == ["0-5", "0-7", "0-9"]
    assert newest.beside == [5, 7, 9]
    assert (newest.count, counts(newest.by_reason)) == (5, "a 3, b 2")


def test_no_bound_keeps_all() -> None:
    newest = Newest(None)
    for number in range(200):
        newest.add(Row(str(number), 0, "", "", "", "", "", ""))
    assert len(newest.rows) == 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--reason", "wrongkey"], "did you mean wrong_key?"),
        (["list", "--since", "yesterday"], "'yesterday' is no time"),
        (["list", "--since", "1h", "--until", "2h"], "--since must be before --until"),
        (["discard", "3-17"], "Missing option '--why'"),
        (["discard", "3-17", "--why", " "], "--why is empty"),
        (["discard", "3-17", "--why", "x" * 501], "--why must be one line of at most 500 characters"),
        (["replay", "3-17", "--who", "a\nb"], "--who must be one line"),
        (["replay", "--rate", "-1"], "Invalid value for '--rate'"),
        (["show", "seventeen"], "'seventeen' names no letter of qr.render.dlq"),
        (["show", "other.dlq-3-17"], "'other.dlq-3-17' names no letter of qr.render.dlq"),
        (["export", "--folder", "x", "-o", "y"], "leave one out"),
    ],
)
def test_a_mistake_is_one_line(qrstream: Callable[..., Any], arguments: list[str], said: str) -> None:
    ran = qrstream("dlq", *arguments, QR_BROKER="127.0.0.1:1")
    assert (ran.code, ran.out) == (ExitCode.USAGE, "")
    assert ran.err.startswith("error usage: ")
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["list"], ["show", "3-17"], ["replay"], ["discard", "--why", "x"], ["export"]])
def test_a_broker_that_is_not_there_is_one_line(qrstream: Callable[..., Any], arguments: list[str]) -> None:
    ran = qrstream("dlq", *arguments, QR_BROKER="127.0.0.1:1")
    assert (ran.code, ran.out) == (ExitCode.BROKER, "")
    assert ran.err.startswith("error broker: 127.0.0.1:1 does not answer")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("command", ["list", "show", "replay", "discard", "export"])
def test_help_has_examples(qrstream: Callable[..., Any], command: str) -> None:
    ran = qrstream("dlq", command, "--help")
    assert ran.code == 0
    assert "Examples:" in ran.out
    assert f"  qrstream dlq {command} " in ran.out
