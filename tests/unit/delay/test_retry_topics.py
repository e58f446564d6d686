"""The retry topics as the settings make them."""

from __future__ import annotations

import pytest

from streams.settings import Settings, SettingsError, load_settings
from streams.topics import RETRIES, TOPICS

DAY_MS = 86_400_000


def settings_with(**given: object) -> Settings:
    return Settings(**given)  # type: ignore[arg-type]


def test_there_are_four_whatever_the_delays_are() -> None:
    for delays in ("5", "1,10,60,600"):
        settings = settings_with(retry_delays=delays, topic_prefix="p.")
        assert [topic.full_name(settings) for topic in RETRIES] == [f"p.render.retry.{n}" for n in (1, 2, 3, 4)]
    assert set(RETRIES) <= set(TOPICS)


@pytest.mark.parametrize(("outputs", "retries"), [(1, 8), (8, 8), (12, 12)])
def test_each_has_enough_partitions_to_spread_a_burst(outputs: int, retries: int) -> None:
    assert {topic.partition_count(settings_with(output_partitions=outputs)) for topic in RETRIES} == {retries}


def test_they_keep_a_record_until_it_is_due_and_as_long_as_an_input_would_from_then() -> None:
    settings = settings_with(retry_delays="1,10,3600", request_ttl=7 * 86_400.0)
    config = RETRIES[0].broker_config(settings)
    assert config["retention.ms"] == str(7 * DAY_MS + 2 * 3_600_000)
    assert config["cleanup.policy"] == "delete"
    assert config["message.timestamp.type"] == "LogAppendTime"


@pytest.mark.parametrize(
    ("written", "milliseconds"), [("1,10,60,600", (1_000, 10_000, 60_000, 600_000)), ("0.25", (250,)), ("0, 86400", (0, 86_400_000))]
)
def test_delays_are_seconds_in_a_list(written: str, milliseconds: tuple[int, ...]) -> None:
    assert settings_with(retry_delays=written, claim_ttl=30 * 86_400).retry_delays_ms == milliseconds


@pytest.mark.parametrize("written", ["", "1,,2", "1,2,3,4,5", "-1", "1e3", "86401", "1;2", "nan"])
def test_what_is_no_such_list_is_refused_in_one_line(written: str) -> None:
    with pytest.raises(SettingsError, match=r"^QR_RETRY_DELAYS=") as refused:
        load_settings(retry_delays=written)
    assert "\n" not in str(refused.value)
