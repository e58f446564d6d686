"""Topics are made as declared, and what does not fit is said by name and number."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

from streams import topic_admin
from streams.exit_codes import ExitCode
from streams.settings import Settings
from streams.topics import TOPICS
from tests.support.broker import Names
from tests.support.command_line import CommandLine
from tests.support.waiting import wait_until

pytestmark = pytest.mark.integration


def settings_of(broker: str, names: Names, **given: object) -> Settings:
    return Settings(broker=broker, topic_prefix=names.topic_prefix, app_id=names.app_id, **{"partitions": 2, "output_partitions": 1, **given})  # type: ignore[arg-type]


def make(broker: str, name: str, partitions: int, **config: str) -> None:
    new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=config)
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([new])[name].result(30)


def set_config(broker: str, topic: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker})
    admin.incremental_alter_configs([resource])[resource].result(30)
    described = ConfigResource(ResourceType.TOPIC, topic)
    wait_until(lambda: admin.describe_configs([described])[described].result(30)[name].value == value, 30, f"the broker tells of {name}={value}")


def test_all_declared_topics_are_made_once_and_fit(broker: str, names: Names) -> None:
    settings = settings_of(broker, names)
    assert sorted(topic_admin.create(settings)) == sorted(topic.full_name(settings) for topic in TOPICS)
    assert topic_admin.create(settings) == []
    assert topic_admin.check(settings) == [topic_admin.ALONE]


def test_a_missing_topic_is_named(broker: str, names: Names) -> None:
    settings = settings_of(broker, names)
    topic_admin.create(settings, TOPICS[1:])
    with pytest.raises(topic_admin.TopicsUnfit) as unfit:
        topic_admin.check(settings)
    assert unfit.value.problems == [f"topic {names.topic_prefix}render.requested: does not exist; `qrstream topics create` makes it"]


def test_a_changelog_with_another_count_than_its_input_is_one_line_with_both_numbers(broker: str, names: Names) -> None:
    settings = settings_of(broker, names)
    make(broker, f"{names.app_id}-renders-changelog", 3, **{"cleanup.policy": "compact"})
    topic_admin.create(settings)
    with pytest.raises(topic_admin.TopicsUnfit) as unfit:
        topic_admin.check(settings)
    assert unfit.value.problems[0] == (
        f"topic {names.topic_prefix}render.requested (2 partitions) and {names.topic_prefix}render.intake (2 partitions) and "
        f"{names.app_id}-renders-changelog (3 partitions) and {names.app_id}-claims-changelog (2 partitions): inputs and "
        "changelogs must have the same count; delete the wrong one, or use a new QR_TOPIC_PREFIX and QR_APP_ID"
    )


def test_another_count_than_the_settings_is_one_line_with_the_setting_to_change(broker: str, names: Names) -> None:
    topic_admin.create(settings_of(broker, names))
    with pytest.raises(topic_admin.TopicsUnfit) as unfit:
        topic_admin.check(settings_of(broker, names, partitions=4))
    assert unfit.value.problems == [
        (
            f"topic {names.app_id}-claims-changelog, {names.app_id}-renders-changelog, {names.topic_prefix}render.intake, "
            f"{names.topic_prefix}render.requested: 2 partitions, but QR_PARTITIONS is 4; counts are "
            "pinned when a topic is made: set QR_PARTITIONS=2, or use a new QR_TOPIC_PREFIX and QR_APP_ID"
        )
    ]


@pytest.mark.parametrize(
    ("topic", "name", "value"),
    [
        ("changelog", "cleanup.policy", "compact,delete"),
        ("changelog", "cleanup.policy", "delete"),
        ("requested", "message.timestamp.type", "CreateTime"),
        ("requested", "max.message.bytes", "1000000"),
        ("changelog", "delete.retention.ms", "1000"),
        ("requested", "retention.ms", "-1"),
    ],
)
def test_a_setting_that_would_break_the_stream_is_refused_in_local_mode_too(broker: str, names: Names, topic: str, name: str, value: str) -> None:
    settings = settings_of(broker, names)
    topic_admin.create(settings)
    full_name = f"{names.app_id}-renders-changelog" if topic == "changelog" else f"{names.topic_prefix}render.requested"
    set_config(broker, full_name, name, value)
    with pytest.raises(topic_admin.TopicsUnfit) as unfit:
        topic_admin.check(settings)
    (problem,) = unfit.value.problems
    assert problem.startswith(f"topic {full_name}: {name} is {value} and must be ")


def test_unclean_election_is_a_warning_on_one_machine_and_refused_in_production(broker: str, names: Names) -> None:
    settings = settings_of(broker, names)
    topic_admin.create(settings)
    set_config(broker, f"{names.topic_prefix}render.completed", "unclean.leader.election.enable", "true")
    line = f"topic {names.topic_prefix}render.completed: unclean.leader.election.enable is true and must be false: a stale replica would lose acknowledged records"
    assert topic_admin.check(settings) == [line, topic_admin.ALONE]
    with pytest.raises(topic_admin.TopicsUnfit) as unfit:
        topic_admin.check(settings_of(broker, names, mode="production"))
    assert f"{line} (QR_MODE=production asks for it)" in unfit.value.problems


def test_one_broker_is_refused_in_production(broker: str, names: Names) -> None:
    topic_admin.create(settings_of(broker, names))
    with pytest.raises(topic_admin.TopicsUnfit) as unfit:
        topic_admin.check(settings_of(broker, names, mode="production"))
    refused = "\n".join(unfit.value.problems)
    for name in ("replicas is 1 and must be at least 3", "min.insync.replicas is 1 and must be at least 2", "transaction.state.log.replication.factor is 1", "offsets.topic.replication.factor is 1"):
        assert name in refused


def test_the_command_makes_topics_and_tells_problems_with_exit_code_66(broker: str, names: Names) -> None:
    shell = CommandLine({"QR_BROKER": broker, "QR_TOPIC_PREFIX": names.topic_prefix, "QR_APP_ID": names.app_id, "QR_PARTITIONS": "2", "QR_OUTPUT_PARTITIONS": "1"})
    made = shell.run("topics", "create")
    assert made.returncode == 0, made.stderr
    assert f"{names.topic_prefix}render.requested" in made.stdout
    assert made.stderr == f"warning: {topic_admin.ALONE}\n"
    unfit = shell.run("topics", "check", QR_PARTITIONS="5")
    assert unfit.returncode == ExitCode.TOPICS
    assert unfit.stdout == ""
    inputs = f"{names.app_id}-claims-changelog, {names.app_id}-renders-changelog, {names.topic_prefix}render.intake, {names.topic_prefix}render.requested"
    assert unfit.stderr.startswith(f"error topics: topic {inputs}: 2 partitions, but QR_PARTITIONS is 5")
    assert len(unfit.stderr.splitlines()) == 1
