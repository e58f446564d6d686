"""Bad records on the real stream: each does what its row of the error table says, its bytes intact, and the stream goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import Message

from tests.support import plain_avro
from tests.support.broker import unique_names
from tests.support.independent_hash import content_hash, invalid_key
from tests.support.outcome_reader import Outcome
from tests.support.publisher import request
from tests.support.stream_run import DEADLINE_S, PARTITIONS, StreamRun, stream_run

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

HEADERS: list[tuple[str, bytes | None]] = [("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), ("x-theirs", b"\x00\xff"), ("x-null", None)]
REROUTED = ("qr-rerouted", b"0")


@dataclass(frozen=True, slots=True)
class Sent:
    """One record as published, and where it landed."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Poisoned:
    """Everything that came of the bad records."""

    sent: dict[str, Sent]
    outcomes: list[Outcome]
    letters: list[Message]
    log: str

    def outcome(self, request_id: str) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.fields["request_id"] == request_id]

    def letters_of(self, case: str) -> list[dict[str, Any]]:
        """Letters of the record as it was published, by value; our headers as a dictionary."""
        sent = self.sent[case]
        found = []
        for letter in self.letters:
            headers = letter.headers()
            assert isinstance(headers, list)
            ours = {name: value for name, value in headers if name.startswith("qr-dlq-") and isinstance(value, bytes)}
            if letter.value() == sent.value and letter.key() == sent.key:
                theirs = [header for header in headers if not header[0].startswith("qr-dlq-")]
                found.append({"theirs": theirs, **{name.removeprefix("qr-dlq-"): value.decode() for name, value in ours.items()}})
        return found


def publish_bad_records(run: StreamRun) -> dict[str, Sent]:
    """One record per case, each with headers of a publisher's own."""
    sent: dict[str, Sent] = {}

    def send(case: str, key: bytes | None, value: bytes | None, *, partition: int | None = None, headers: list[tuple[str, bytes | None]] = HEADERS) -> None:
        landed, offset = run.publisher.publish_bytes(key, value, partition=partition, headers=headers)
        sent[case] = Sent(key, value, headers, landed, offset)

    def record(case: str, content: str | bytes = "x", **options: Any) -> tuple[bytes, bytes]:
        fields = request(content, case, **options)
        return content_hash(fields).encode(), plain_avro.encode("RenderRequested", fields)

    send("undecodable", b"any key \xff", b"\x00\x01not avro")
    send("null value", b"any key", None)
    send("truncated", b"any key", record("truncated")[1][:-1])
    send("trailing bytes", b"any key", record("trailing bytes")[1] + b"\x00")
    send("empty key", b"", record("empty key", "no key")[1])
    send("null key", None, record("null key", "no key")[1])
    send("wrong key", content_hash(request("other", "other")).encode(), record("wrong key", "right")[1])
    key, value = record("wrong partition", "elsewhere")
    home, _ = run.publisher.publish_bytes(*record("at home", "elsewhere"), headers=HEADERS)
    send("wrong partition", key, value, partition=(home + 1) % PARTITIONS)
    key, value = record("wrong partition again", "elsewhere")
    send("wrong partition again", key, value, partition=(home + 1) % PARTITIONS, headers=[*HEADERS, REROUTED])
    send("2 MB value", *record("2 MB value", b"\xff\xfe" * 1_000_000))
    send("3,000 bytes", *record("3,000 bytes", "a" * 3_000))
    send("3,000 bytes again", *record("3,000 bytes again", "a" * 3_000))
    send("past its deadline", *record("past its deadline", "late", deadline=1))
    send("negative scale", invalid_key("negative scale").encode(), record("negative scale", scale=-1.0)[1])
    send("unknown format", invalid_key("unknown format").encode(), record("unknown format", format="bmp3")[1])
    send("blue text", *record("blue text", format="txt", dark="#0000ff"))
    return sent


@pytest.fixture(scope="module")
def poisoned(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Poisoned]:
    with stream_run(broker, unique_names(), tmp_path_factory.mktemp("poisoned")) as run:
        worker = run.start()
        sent = publish_bad_records(run)
        for partition in range(PARTITIONS):  # the stream goes on behind each of them
            run.publisher.publish([f"healthy {partition} {number}" for number in range(10)])
        # Bad records with an outcome, the one at home among them, and the healthy ones; then the letters' partitions.
        run.wait_outcomes(13 + 10 * PARTITIONS, worker)
        run.wait(run.caught_up, "every position has reached the source's end", DEADLINE_S, worker)
        run.end()
        outcomes = run.outcomes.to_end()
        healthy = {o.fields["request_id"] for o in outcomes if o.kind == "completed"}
        assert run.publisher.expected.keys() <= healthy
        yield Poisoned(sent, outcomes, run.letters(), worker.log.read_text())


def assert_letter(poisoned: Poisoned, case: str, code: str, error_class: str = "poison") -> dict[str, Any]:
    """Exactly one letter with the record's own key, bytes and headers, and the metadata of its failure."""
    sent = poisoned.sent[case]
    letters = poisoned.letters_of(case)
    assert len(letters) == 1
    letter: dict[str, Any] = letters[0]
    assert letter["theirs"] == sent.headers
    assert (letter["reason"], letter["class"]) == (code, error_class)
    assert (letter["source-partition"], letter["source-offset"]) == (str(sent.partition), str(sent.offset))
    assert letter["source-topic"].endswith("render.requested")
    assert letter["attempts"] == "1"
    assert letter["first-failure"] == letter["last-failure"]
    assert letter["message"]
    return letter


def assert_failed(poisoned: Poisoned, case: str, code: str, error_class: str) -> Outcome:
    """Exactly one outcome: a failed event with this code."""
    outcomes = poisoned.outcome(case)
    assert [(o.kind, o.fields["error_code"], o.fields["error_class"]) for o in outcomes] == [("failed", code, error_class)]
    assert outcomes[0].fields["message"]
    return outcomes[0]


@pytest.mark.parametrize("case", ["undecodable", "null value", "truncated", "trailing bytes"])
def test_what_cannot_be_decoded_is_dead_lettered_and_nothing_else(poisoned: Poisoned, case: str) -> None:
    letter = assert_letter(poisoned, case, "undecodable")
    assert "request-id" not in letter
    assert poisoned.outcome(case) == []


@pytest.mark.parametrize(("case", "content"), [("empty key", "no key"), ("null key", "no key")])
def test_a_record_without_key_fails_as_missing_key(poisoned: Poisoned, case: str, content: str) -> None:
    outcome = assert_failed(poisoned, case, "missing_key", "poison")
    right = content_hash(request(content, case))
    assert outcome.fields["content_hash"] == right
    letter = assert_letter(poisoned, case, "missing_key")
    assert (letter["request-id"], letter["content-hash"]) == (case, right)


def test_a_wrong_key_fails_and_names_the_right_one(poisoned: Poisoned) -> None:
    outcome = assert_failed(poisoned, "wrong key", "wrong_key", "poison")
    right = content_hash(request("right", "wrong key"))
    assert outcome.fields["content_hash"] == right
    assert right in outcome.fields["message"]
    assert_letter(poisoned, "wrong key", "wrong_key")


def test_a_record_in_the_wrong_partition_is_routed_to_its_own_and_completed_once(poisoned: Poisoned) -> None:
    outcomes = poisoned.outcome("wrong partition")
    assert [o.kind for o in outcomes] == ["completed"]
    assert poisoned.letters_of("wrong partition") == []


def test_a_record_in_the_wrong_partition_for_the_second_time_is_dead_lettered(poisoned: Poisoned) -> None:
    assert_failed(poisoned, "wrong partition again", "wrong_partition", "poison")
    assert_letter(poisoned, "wrong partition again", "wrong_partition")


def test_a_two_megabyte_value_fails_and_its_letter_has_every_byte(poisoned: Poisoned) -> None:
    assert_failed(poisoned, "2 MB value", "request_too_large", "poison")
    letter = assert_letter(poisoned, "2 MB value", "request_too_large")
    value = poisoned.sent["2 MB value"].value
    assert value is not None
    assert letter["content-length"] == str(len(value))
    assert len(value) > 2_000_000


def test_three_thousand_bytes_fail_for_every_request_and_are_no_dead_letter(poisoned: Poisoned) -> None:
    for case in ("3,000 bytes", "3,000 bytes again"):
        outcome = assert_failed(poisoned, case, "content_too_long", "permanent")
        assert outcome.fields["content_hash"] == content_hash(request("a" * 3_000, case))
        assert poisoned.letters_of(case) == []


@pytest.mark.parametrize(
    ("case", "code"),
    [("past its deadline", "deadline_exceeded"), ("negative scale", "invalid_option"), ("unknown format", "invalid_option"), ("blue text", "format_unavailable")],
)
def test_a_permanent_failure_is_a_failed_event_and_no_dead_letter(poisoned: Poisoned, case: str, code: str) -> None:
    assert_failed(poisoned, case, code, "permanent")
    assert poisoned.letters_of(case) == []


def test_there_are_no_other_letters(poisoned: Poisoned) -> None:
    assert len(poisoned.letters) == 9


def test_the_content_is_never_logged(poisoned: Poisoned) -> None:
    for content in ("elsewhere", "healthy", "aaaaaaaa", "not avro"):
        assert content not in poisoned.log
