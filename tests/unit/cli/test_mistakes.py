"""A user's mistake is one line with a code, and the exit code that is documented for it."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from streams.cli import version
from streams.exit_codes import ExitCode
from tests.unit.cli.conftest import Ran

Qrstream = Callable[..., Ran]
ONE_LINE = re.compile(r"error [a-z_]+: [^\n]+\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["rendr"], 2, "error usage: No such command 'rendr'"),
        (["render"], 2, "error usage: give TEXT or --request FILE"),
        (["render", "a", "--request", "b"], 2, "error usage: give TEXT or --request FILE"),
        (["render", "a", "--scale", "wide"], 2, "error usage: Invalid value for '--scale'"),
        (["render", "a", "-o", "no/such/folder/a.png"], 2, "error usage: no/such/folder/a.png cannot be written"),
        (["render", "--request", "absent.jsonl"], 2, "error usage: absent.jsonl cannot be read"),
        (["render", "a", "--json", "-o", "-"], 2, "error usage: --json and -o - both want standard output"),
        (["render", "two", "words"], 2, "error usage: TEXT is one word, not 2; put it in quotes"),
        (["render", "--type", "wifi", "Cafe"], 2, "error usage: with --type, write FIELD=VALUE, not 'Cafe'; `qrstream content-types wifi`"),
        (["render", "--type", "wifi", "type=x"], 2, "error usage: with --type, write FIELD=VALUE, not 'type=x'"),
        (["render", "--type", "tel", "number=+1", "number=+2"], 2, "error usage: number is there twice, and takes one value"),
        (["render", "--type", "emvco", "accounts.26=x", "accounts.26.00=x"], 2, "error usage: accounts.26.00 is there twice"),
        (["render", "--type", "wifi", "--request", "b"], 2, "error usage: give TEXT or --request FILE"),
        (["render", "--type", "wify"], 1, "error invalid_payload: payload type 'wify' is not known; did you mean wifi?"),
        (["render", "--type", "wifi"], 1, "error invalid_payload: payload wifi has no ssid"),
        (["render", "--type", "wifi", "sssid=x"], 1, "error invalid_payload: payload wifi has no member 'sssid'; did you mean ssid?"),
        (["render", "--type", "wifi", "ssid=x", "hidden=yes"], 1, "error invalid_payload: payload wifi, hidden: must be true or false"),
        (["content-types", "wify"], 1, "error invalid_payload: payload type 'wify' is not known; did you mean wifi?"),
        (["render", ""], 1, "error content_empty: "),
        (["render", "a", "--format", "txt", "--size", "300"], 1, "error format_unavailable: txt has a character a module"),
        (["render", "a", "--dark", "red"], 1, "error invalid_option: dark must be #rgb or #rrggbb"),
        (["publish", "absent.jsonl"], 2, "error usage: absent.jsonl cannot be read"),
        (["tail", "everything"], 2, "error usage: Invalid value for "),
        (["tail", "completed"], 65, "error broker: no broker is set; set QR_BROKER=host:port"),
        (["topics", "check"], 65, "error broker: no broker is set"),
        (["show", "abc"], 2, "error usage: 'abc' is no content hash"),
        (["show", "0" * 64], 65, "error broker: no broker is set"),
        (["up", "--once"], 2, "error usage: --once needs a FILE"),
        (["up", "absent.jsonl"], 2, "error usage: absent.jsonl cannot be read"),
        (["bench", "pipeline", "--only", "speed"], 2, "error usage: there is no measurement speed"),
    ],
)
def test_a_mistake_is_one_line_and_its_documented_exit_code(qrstream: Qrstream, arguments: list[str], code: int, said: str) -> None:
    ran = qrstream(*arguments)
    assert ran.code == code
    assert ran.err.startswith(said)
    assert ONE_LINE.fullmatch(ran.err), ran.err
    assert ran.out == ""


def test_an_unreachable_broker_is_one_line_that_names_it(qrstream: Qrstream) -> None:
    ran = qrstream("topics", "check", QR_BROKER="127.0.0.1:1")
    assert ran.code == ExitCode.BROKER
    assert ran.err.startswith("error broker: 127.0.0.1:1 does not answer")
    assert ONE_LINE.fullmatch(ran.err)


def test_a_wrong_setting_is_one_line_that_names_the_variable_and_exit_code_64(qrstream: Qrstream) -> None:
    ran = qrstream("config", QR_PARTITIONS="many")
    assert ran.code == ExitCode.SETTINGS
    assert ran.err.startswith("error settings: QR_PARTITIONS='many': ")
    assert ONE_LINE.fullmatch(ran.err)


def test_a_file_that_is_no_certificate_is_a_setting_and_no_crash(qrstream: Qrstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("no certificate")
    monkeypatch.setenv("QR_KAFKA_SECURITY_PROTOCOL", "SSL")
    monkeypatch.setenv("QR_KAFKA_SSL_CA_LOCATION", str(authority))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("QR_BROKER", f"127.0.0.1:{listening.getsockname()[1]}")
        ran = qrstream("topics", "check")
    assert ran.code == ExitCode.SETTINGS
    assert ran.err.startswith("error settings: QR_KAFKA_*: ")
    assert ran.err.count("\n") == 1


def test_a_misspelt_setting_is_told_with_the_right_one(qrstream: Qrstream) -> None:
    ran = qrstream("config", QR_PARTITION="4")
    assert ran.code == ExitCode.SETTINGS
    assert ran.err == "error settings: unknown setting QR_PARTITION; did you mean QR_PARTITIONS?\n"


def test_a_data_folder_that_cannot_be_made_is_exit_code_67(qrstream: Qrstream, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    ran = qrstream("up", QR_DATA_DIR=str(in_the_way / "below"))
    assert ran.code == ExitCode.DATA_FOLDER
    assert ran.err == f"error data_folder: {in_the_way}/below cannot be written: Not a directory; set QR_DATA_DIR to a folder of yours\n"


def _fail(*_: object) -> None:
    raise ZeroDivisionError("a fault of ours")


def test_an_error_nobody_expected_is_one_line_and_exit_code_73(qrstream: Qrstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.cli.output.print_json", _fail)
    ran = qrstream("version", "--json")
    assert version.version.__module__ == "streams.cli.version"
    assert ran.code == ExitCode.CRASHED
    assert ran.err == "error crashed: ZeroDivisionError: a fault of ours; QR_LOG=console:debug shows where, please report it\n"


def test_the_traceback_is_there_for_those_who_ask_for_it(qrstream: Qrstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.cli.output.print_json", _fail)
    ran = qrstream("version", "--json", QR_LOG="console:debug")
    assert ran.code == ExitCode.CRASHED
    assert "Traceback (most recent call last)" in ran.err
    assert ran.err.endswith("error crashed: ZeroDivisionError: a fault of ours\n")


def test_help_lists_every_exit_code_with_its_meaning(qrstream: Qrstream) -> None:
    ran = qrstream("--help")
    assert ran.code == 0
    for code in ExitCode:
        assert f"{code.value:>3}  {code.meaning}" in ran.out


@pytest.mark.parametrize("command", ["up", "worker", "topics create", "topics check", "publish", "tail", "show", "render", "bench pipeline", "config"])
def test_help_of_every_command_has_examples(qrstream: Qrstream, command: str) -> None:
    ran = qrstream(*command.split(), "--help")
    assert ran.code == 0
    assert "Examples:" in ran.out
    assert f"qrstream {command.partition(' ')[0]}" in ran.out


def test_help_imports_neither_a_kafka_client_nor_a_renderer() -> None:
    heavy = "{'confluent_kafka', 'faust', 'segno', 'numpy', 'pydantic', 'fastavro', 'rich', 'zxingcpp'}"
    program = f"import sys; from streams.cli.main import run; code = run(['--help']); print(sorted({heavy} & set(sys.modules)), code)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[] 0"
