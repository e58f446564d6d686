"""What topics and brokers must be set to, each rule with its reason; checked by `topic_admin`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from streams.settings import Settings
from streams.topics import Partitions, Topic

MOST_TRANSACTION_MS = 60_000
"""An open transaction hides every later record of its partitions; the broker's default lets a lost one do so for 15 minutes."""
PRODUCTION_REPLICAS = 3
"""Two in-sync replicas with one broker down need a third."""
PRODUCTION_IN_SYNC = 2
"""With one, an acknowledged record may be on a single disk."""
_UNLIMITED = -1


class Severity(Enum):
    """What a broken rule costs."""

    STREAM = "the stream would lose or refuse records; refused in every mode"
    SAFETY = "a broker that fails could lose acknowledged records; refused in production, a warning on one machine"


@dataclass(frozen=True, slots=True)
class TopicRule:
    """One configuration of a topic: how the declared value and the found one must relate."""

    name: str
    severity: Severity
    holds: Callable[[str, str], bool]
    relation: str
    reason: str

    def broken_by(self, settings: Settings, topic: Topic, config: Mapping[str, str], replicas: int) -> str | None:
        """One line when the topic breaks this rule."""
        if self.name == "replicas":
            wanted, found = str(PRODUCTION_REPLICAS if settings.mode == "production" else settings.replication), str(replicas)
        else:
            declared = topic.broker_config(settings).get(self.name)
            if self.name == "min.insync.replicas" and settings.mode == "production":
                declared = str(PRODUCTION_IN_SYNC)
            if declared is None or (self.name == "retention.ms" and topic.partitions is not Partitions.INPUT):
                return None
            wanted, found = declared, config.get(self.name, "")
        if self.holds(wanted, found):
            return None
        return f"{self.name} is {found or 'unknown'} and must be {self.relation}{wanted}: {self.reason}"


@dataclass(frozen=True, slots=True)
class BrokerRule:
    """One setting of a broker and its bound."""

    name: str
    holds: Callable[[int | str], bool]
    wanted: str
    reason: str
    brokers_needed: int = 1

    def broken_by(self, config: Mapping[str, str]) -> str | None:
        """One line when the broker breaks this rule; a setting that it does not tell breaks none."""
        found = config.get(self.name)
        if not found or self.holds(int(found) if found.lstrip("-").isdigit() else found):
            return None
        return f"{self.name} is {found} and should be {self.wanted}: {self.reason}"


def _same(wanted: str, found: str) -> bool:
    return set(wanted.split(",")) == set(found.split(","))


def _at_least(wanted: str, found: str) -> bool:
    return found.lstrip("-").isdigit() and (int(found) == _UNLIMITED or int(found) >= int(wanted))


def _at_most(wanted: str, found: str) -> bool:
    return found.isdigit() and int(found) <= int(wanted)


TOPIC_RULES = (
    TopicRule("cleanup.policy", Severity.STREAM, _same, "", "`delete` drops live rows of a changelog, `compact` drops requests"),
    TopicRule("message.timestamp.type", Severity.STREAM, _same, "", "ages are measured by the broker's clock, not by a publisher's"),
    TopicRule("max.message.bytes", Severity.STREAM, _at_least, "at least ", "a large request or its dead letter would be refused"),
    TopicRule("delete.retention.ms", Severity.STREAM, _at_least, "at least ", "a worker that was away would miss deletions"),
    TopicRule("retention.ms", Severity.STREAM, _at_most, "at most ", "a request id is forgotten after QR_REQUEST_TTL, and an older request would be answered twice"),
    TopicRule("unclean.leader.election.enable", Severity.SAFETY, _same, "", "a stale replica would lose acknowledged records"),
    TopicRule("min.insync.replicas", Severity.SAFETY, _at_least, "at least ", "an acknowledged record could be on one disk only"),
    TopicRule("replicas", Severity.SAFETY, _at_least, "at least ", "one lost broker would lose the topic"),
)

BROKER_RULES = (
    BrokerRule(
        "transaction.max.timeout.ms", lambda value: isinstance(value, int) and value <= MOST_TRANSACTION_MS, f"at most {MOST_TRANSACTION_MS}",
        "a lost producer hides later records that long",
    ),
    BrokerRule("unclean.leader.election.enable", lambda value: value == "false", "false", "a stale replica would lose acknowledged records"),
    BrokerRule(
        "transaction.state.log.replication.factor", lambda value: isinstance(value, int) and value >= PRODUCTION_REPLICAS,
        f"at least {PRODUCTION_REPLICAS}", "one lost broker would stop every transaction", PRODUCTION_REPLICAS,
    ),
    BrokerRule(
        "transaction.state.log.min.isr", lambda value: isinstance(value, int) and value >= PRODUCTION_IN_SYNC,
        f"at least {PRODUCTION_IN_SYNC}", "a commit could be on one disk only", PRODUCTION_IN_SYNC,
    ),
    BrokerRule(
        "offsets.topic.replication.factor", lambda value: isinstance(value, int) and value >= PRODUCTION_REPLICAS,
        f"at least {PRODUCTION_REPLICAS}", "one lost broker would stop every consumer group", PRODUCTION_REPLICAS,
    ),
)
