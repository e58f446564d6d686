"""Make the declared topics, and check by name and number that what is there is what the settings ask for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from streams import kafka_clients
from streams.broker_settings import BROKER_RULES, TOPIC_RULES, Severity
from streams.exit_codes import ExitCode
from streams.settings import Settings
from streams.topic_reader import ANSWER_SECONDS, ensure_reachable, unreachable
from streams.topics import TOPICS, Partitions, Topic

ALONE = "there is one broker, so nothing is replicated: fine to try things out, not to keep them"
"""The warning that every single machine gets."""


_LEADERS_SECONDS = 60.0
"""Leaders are there within a second on a cluster at rest; a controller that is busy takes its time."""


class TopicsUnfit(Exception):
    """Topics or broker are not what the settings ask for.

    Attributes:
        problems: one line each, with names, numbers and what to do.
    """

    exit_code = ExitCode.TOPICS

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A declared topic as the broker has it."""

    declared: Topic
    name: str
    partitions: int
    replicas: int
    config: Mapping[str, str]


def create(settings: Settings, topics: Iterable[Topic] = TOPICS) -> list[str]:
    """Make the topics that are not there, and return their names; existing ones are left as they are.

    Raises:
        BrokerUnreachable: no answer.
        TopicsUnfit: the broker refused a topic.
    """
    admin = _admin(settings)
    there = _metadata(admin, settings)
    wanted = [
        NewTopic(
            topic.full_name(settings),
            num_partitions=topic.partition_count(settings),
            replication_factor=settings.replication,
            config=topic.broker_config(settings),
        )
        for topic in topics
        if topic.full_name(settings) not in there.topics
    ]
    if not wanted:
        return []
    made: list[str] = []
    refused: list[str] = []
    for name, future in admin.create_topics(wanted, operation_timeout=ANSWER_SECONDS, request_timeout=3 * ANSWER_SECONDS).items():
        try:
            future.result()
        except KafkaException as exc:
            error = exc.args[0]
            if error.code() != KafkaError.TOPIC_ALREADY_EXISTS:  # made by somebody else just now
                refused.append(f"topic {name} cannot be created: {error.str()}")
        else:
            made.append(name)
    if refused:
        raise TopicsUnfit(refused)
    _await(admin, settings, made)
    return made


def _await(admin: AdminClient, settings: Settings, names: list[str]) -> None:
    """Until the brokers tell of the topics and their leaders: a topic is known to the controller first."""
    deadline = time.monotonic() + _LEADERS_SECONDS
    while time.monotonic() < deadline:
        there = _metadata(admin, settings).topics
        if all(name in there and there[name].partitions and all(p.leader >= 0 for p in there[name].partitions.values()) for name in names):
            return
        time.sleep(0.05)
    raise unreachable(settings, f"{', '.join(names)} made, but without leaders after {_LEADERS_SECONDS:.0f} s")


def check(settings: Settings, topics: Iterable[Topic] = TOPICS) -> list[str]:
    """Compare topics and broker with what is declared; return warnings, one line each.

    What makes a single machine less safe than a cluster is a warning with QR_MODE=local and a
    problem with QR_MODE=production; what would break the stream is a problem in both.

    Raises:
        BrokerUnreachable: no answer.
        TopicsUnfit: with every problem found.
    """
    admin = _admin(settings)
    metadata = _metadata(admin, settings)
    declared = {topic.full_name(settings): topic for topic in topics}
    there = {name: metadata.topics[name] for name in declared if name in metadata.topics}
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in there]
    brokers = [ConfigResource(ResourceType.BROKER, str(broker)) for broker in metadata.brokers]
    configs = _configs(admin, settings, [*resources, *brokers])
    found = [
        FoundTopic(declared[name], name, len(topic.partitions), min((len(p.replicas) for p in topic.partitions.values()), default=0), configs["TOPIC", name])
        for name, topic in there.items()
    ]
    problems, safety = _Lines("topic"), _Lines("topic")
    for name in declared.keys() - there.keys():
        problems.add(name, "does not exist; `qrstream topics create` makes it")
    _count_partitions(settings, found, problems)
    for topic in found:
        for rule in TOPIC_RULES:
            line = rule.broken_by(settings, topic.declared, topic.config, topic.replicas)
            if line is not None:
                (problems if rule.severity is Severity.STREAM else safety).add(topic.name, line)
    warnings = safety.all() + _broker_lines(settings, {str(broker): configs["BROKER", str(broker)] for broker in metadata.brokers})
    if settings.mode == "production":
        raised = problems.all() + [f"{line} (QR_MODE=production asks for it)" for line in warnings]
        warnings = []
    else:
        raised = problems.all()
    if raised:
        raise TopicsUnfit(raised)
    return warnings


class _Lines:
    """Lines about several subjects; what is the same for many is said once."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._subjects: dict[str, list[str]] = {}

    def add(self, subject: str, line: str) -> None:
        self._subjects.setdefault(line, []).append(subject)

    def all(self) -> list[str]:
        return [f"{self._noun} {', '.join(sorted(subjects))}: {line}" for line, subjects in self._subjects.items()]


def _count_partitions(settings: Settings, found: list[FoundTopic], problems: _Lines) -> None:
    inputs = [topic for topic in found if topic.declared.partitions is Partitions.INPUT]
    if len({topic.partitions for topic in inputs}) > 1:
        counts = " and ".join(f"{topic.name} ({topic.partitions} partitions)" for topic in inputs)
        problems.add(counts, "inputs and changelogs must have the same count; delete the wrong one, or use a new QR_TOPIC_PREFIX and QR_APP_ID")
        inputs = []
    for topic in [*inputs, *(topic for topic in found if topic.declared.partitions is not Partitions.INPUT)]:
        wanted = topic.declared.partition_count(settings)
        setting = "QR_PARTITIONS" if topic.declared.partitions is Partitions.INPUT else "QR_OUTPUT_PARTITIONS"
        if topic.partitions != wanted:
            problems.add(
                topic.name,
                f"{topic.partitions} partitions, but {_asked(settings, topic.declared, setting)}; counts are pinned when a topic is made: "
                f"set {setting}={topic.partitions}, or use a new QR_TOPIC_PREFIX and QR_APP_ID",
            )


def _asked(settings: Settings, topic: Topic, setting: str) -> str:
    if topic.partitions is Partitions.RETRY:
        return f"with {setting} {settings.output_partitions} it must have {topic.partition_count(settings)}"
    return f"{setting} is {topic.partition_count(settings)}"


def _broker_lines(settings: Settings, configs: Mapping[str, Mapping[str, str]]) -> list[str]:
    alone = len(configs) == 1 and settings.mode == "local"
    lines = _Lines("broker")
    for broker, config in sorted(configs.items()):
        for rule in BROKER_RULES:
            # One broker cannot replicate; that is said once, and not for each setting.
            line = None if alone and rule.brokers_needed > 1 else rule.broken_by(config)
            if line is not None:
                lines.add(broker, line)
    return [ALONE, *lines.all()] if alone else lines.all()


def _admin(settings: Settings) -> AdminClient:
    ensure_reachable(settings)
    return AdminClient(kafka_clients.connection(settings))


def _metadata(admin: AdminClient, settings: Settings) -> Any:
    try:
        return admin.list_topics(timeout=ANSWER_SECONDS)
    except KafkaException as exc:
        raise unreachable(settings, exc.args[0].str()) from exc


def _configs(admin: AdminClient, settings: Settings, resources: list[ConfigResource]) -> dict[tuple[str, str], dict[str, str]]:
    if not resources:
        return {}
    found: dict[tuple[str, str], dict[str, str]] = {}
    for resource, future in admin.describe_configs(resources, request_timeout=ANSWER_SECONDS).items():
        try:
            entries = future.result()
        except KafkaException as exc:
            raise unreachable(settings, f"the configuration of {resource.name} cannot be read: {exc.args[0].str()}") from exc
        found[resource.restype.name, resource.name] = {name: entry.value or "" for name, entry in entries.items()}
    return found
