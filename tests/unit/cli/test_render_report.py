"""`qrstream render --report` and `--strict`: how a symbol was read back, and what may keep others from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Ran

Qrstream = Callable[..., Ran]
READ_BY = f"read back   by zxing-cpp/{version('zxing-cpp')}, equal in every byte"


def test_the_report_of_a_sound_symbol(qrstream: Qrstream, tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    lines = qrstream("render", "https://example.com", "-o", str(file), "--report").out.splitlines()
    assert lines[0].startswith(f"{file}: ")
    assert lines[1].startswith("symbol      version 2-Q, mask 6, 25 by 25 modules, by ")
    assert lines[2:] == [
        READ_BY,
        "contrast    21.00 to 1, dark on light",
        "quiet zone  4 modules",
        "module      8 px",
        "warnings    none",
        "can lose    a square of 8 by 8 modules in the middle (64 modules, 10.2%)",
        "            or 25 scattered modules (4.0%)",
    ]


def test_the_report_names_each_warning_with_what_to_change(qrstream: Qrstream) -> None:
    lines = qrstream("render", "Grüße", "--dark", "#fff", "--light", "#000", "--margin", "0", "--report").out.splitlines()
    assert [line for line in lines if line.startswith(("contrast", "warning"))] == [
        "contrast    21.00 to 1, light on dark (inverted)",
        "warning     inverted: the modules are lighter than their ground, which some readers refuse; swap dark and light (contrast ratio 21.00 to 1 either way)",
        "warning     quiet_zone: the quiet zone is 0 of 4 modules wide; ask for a margin of 4",
        "warning     ambiguous_text: readers that try Big5, Shift JIS or ISO/IEC 8859-1 before UTF-8 show another text; most phones do not, and ASCII is read alike by all",
    ]


def test_as_json_it_has_the_same_facts(qrstream: Qrstream) -> None:
    facts = json.loads(qrstream("render", "https://example.com", "--margin", "0", "--report", "--json").out)
    assert (facts["version"], facts["error_correction"], facts["mask"]) == (2, "q", 6)
    assert facts["verification"]["warnings"] == ["quiet_zone"]
    assert facts["damage"] == {"square": {"modules": 64, "share": 0.1024}, "square_side": 8, "scattered": {"modules": 25, "share": 0.04}}


def test_without_it_the_damage_is_not_looked_at(qrstream: Qrstream) -> None:
    assert "damage" not in json.loads(qrstream("render", "a", "--json").out)
    assert "can lose" not in qrstream("render", "a").out


def test_each_request_of_a_file_has_its_report(qrstream: Qrstream, tmp_path: Path) -> None:
    requests = tmp_path / "two.jsonl"
    requests.write_text('{"content": "a"}\n{"content": "b", "margin": 1}\n')
    lines = qrstream("render", "--request", str(requests), "-o", str(tmp_path / "symbols"), "--report").out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("symbol ", "warning"))] == ["symbol", "warnings", "symbol", "warning"]


def test_a_report_and_a_file_do_not_share_standard_output(qrstream: Qrstream) -> None:
    ran = qrstream("render", "a", "--report", "-o", "-")
    assert (ran.code, ran.out, ran.err) == (2, "", "error usage: --report and -o - both want standard output; leave one out\n")


REFUSED = "error unscannable: quiet_zone: the quiet zone is 2 of 4 modules wide; ask for a margin of 4\n"


@pytest.mark.parametrize(("arguments", "environment"), [(("--strict",), {}), ((), {"QR_SCAN_POLICY": "refuse"}), (("--strict",), {"QR_SCAN_POLICY": "warn"})])
def test_a_strict_render_refuses_what_has_warnings_and_writes_nothing(
    qrstream: Qrstream, tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    ran = qrstream("render", "a", "--margin", "2", "-o", str(tmp_path / "a.png"), *arguments, **environment)
    assert (ran.code, ran.out, ran.err) == (1, "", REFUSED)
    assert not (tmp_path / "a.png").exists()


def test_the_policy_is_warn_unless_it_is_set(qrstream: Qrstream) -> None:
    assert qrstream("render", "a", "--margin", "2", "--json").code == 0
    assert json.loads(qrstream("config", "--json").out)["scan_policy"] == "warn"


def test_another_policy_is_a_wrong_setting(qrstream: Qrstream) -> None:
    ran = qrstream("render", "a", QR_SCAN_POLICY="strict")
    assert ran.code == 64
    assert ran.err.startswith("error settings: QR_SCAN_POLICY='strict': Input should be 'warn' or 'refuse' (")
