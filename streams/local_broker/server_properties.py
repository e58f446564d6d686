"""The settings of a one-node broker: what production asks for, as far as one broker can, and small.

Each with its reason: what breaks if it is lower, or what is gained.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streams.local_broker.ports import LOOPBACK

KIB, MIB = 1024, 1024 * 1024

# Input topics take 3 MiB, dead letters and changelogs 64 KiB more; a topic's own limit can only be used when the
# fetch and replica limits of the broker are not below it.
MESSAGE_MAX_BYTES = 3 * MIB + 512 * KIB

DURABILITY: Mapping[str, str] = {
    "auto.create.topics.enable": "false",  # a mistyped topic is an error, not a new topic with one partition
    "unclean.leader.election.enable": "false",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    # A transaction left open hides every later record of its partitions: at most a minute, not the default 15.
    "transaction.max.timeout.ms": "60000",
    # How often the broker looks for transactions past their timeout. At the default of 10 s, one that a dead process
    # left open stalls its partitions up to twice as long as QR_TRANSACTION_TIMEOUT says.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "message.max.bytes": str(MESSAGE_MAX_BYTES),
    "replica.fetch.max.bytes": str(MESSAGE_MAX_BYTES),
    # Kept by the topics as declared; the broker's default would drop a quiet topic's records after a week.
    "log.retention.hours": "-1",
}

INTERNAL_TOPICS: Mapping[str, str] = {
    # One broker holds one replica; with the default 3 these topics could never be made.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # The default 50 partitions each are made at the first group and the first transaction, and loaded at each start:
    # 100 logs for a spread over brokers that one broker does not need. Four still let coordinators work in parallel.
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "1",
}

GROUPS: Mapping[str, str] = {
    # Waiting for more members (3 s by default) only delays the first assignment of a worker or two.
    "group.initial.rebalance.delay.ms": "0",
    # Tests of a lost worker use sessions of a second or two; the default floor is 6 s.
    "group.min.session.timeout.ms": "1000",
}

SMALL: Mapping[str, str] = {
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "2",
    # The cleaner takes its key map at once: 128 MiB by default, a quarter of this broker's heap. 16 MiB holds the
    # offsets of 600,000 keys in one pass, and a larger log is cleaned in several.
    "log.cleaner.dedupe.buffer.size": str(16 * MIB),
    "log.cleaner.io.buffer.size": str(512 * KIB),
    # The controller writes a no-op record, with a sync to disk, after this long without another (default 0.5 s): only
    # a cluster of several needs that pace, to tell a healthy controller from a lost one.
    "metadata.max.idle.interval.ms": "5000",
}


def server_properties(
    log_dir: Path, *, port: int, controller_port: int, overrides: Mapping[str, str] | None = None
) -> dict[str, str]:
    """All settings of a broker that is its own KRaft controller, listening on loopback only.

    `overrides` win. The voters are static (by configuration, not kept in the log): so both ports may change at
    every start of the same folder.
    """
    node = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller_port}",
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(log_dir),
    }
    return {**node, **DURABILITY, **INTERNAL_TOPICS, **GROUPS, **SMALL, **(overrides or {})}


def as_text(properties: Mapping[str, str]) -> str:
    """The settings as a Java properties file; a backslash is the one character that needs an escape."""
    return "".join(f"{key}={value.replace(chr(92), chr(92) * 2)}\n" for key, value in properties.items())
