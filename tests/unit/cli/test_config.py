"""`qrstream config` and the tables of the README, made from one declaration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from streams.reference import exit_code_table, settings_table
from streams.settings import Settings
from tests.unit.cli.conftest import Ran

Qrstream = Callable[..., Ran]
README = Path(__file__).resolve().parents[3] / "README.md"


def test_secrets_are_masked(qrstream: Qrstream) -> None:
    secret = {"QR_CLICKHOUSE_URL": "https://user:hunter2@host", "QR_KAFKA_SSL_KEY_PASSWORD": "hunter2"}
    plain, as_json = qrstream("config", **secret), qrstream("config", "--json")
    assert "hunter2" not in plain.out + plain.err + as_json.out
    assert json.loads(as_json.out)["clickhouse_url"] == "**********"


def test_each_setting_is_told_with_its_source(qrstream: Qrstream) -> None:
    Path("qrstream.toml").write_text('app_id = "from-file"\npartitions = 3\n')
    out = qrstream("config", QR_PARTITIONS="5").out
    assert "QR_PARTITIONS=5  (environment)" in out
    assert "QR_APP_ID=from-file  (file)" in out
    assert "QR_TOPIC_PREFIX=qr.  (default)" in out
    assert "QR_BROKER=  (not set)" in out


def test_json_has_every_setting(qrstream: Qrstream) -> None:
    assert set(json.loads(qrstream("config", "--json").out)) == set(Settings.model_fields)


def test_the_readme_has_the_declared_exit_codes_and_settings() -> None:
    readme = README.read_text(encoding="utf-8")
    assert exit_code_table() in readme
    assert settings_table() in readme
