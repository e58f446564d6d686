"""Against a server of this process that speaks the registry's API over real sockets."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import fastavro
import pytest

from schemas import resolving
from schemas.codec import Codec, Framing, UndecodableError
from schemas.definitions import current
from schemas.errors import RegistryError, RegistryUnavailableError, UnknownSchemaError
from schemas.events import MarkerRow, Record, RenderRequested
from schemas.registry import Registry
from tests.unit.schemas.records import EXAMPLES, NOW

JSON = "application/vnd.schemaregistry.v1+json"


class SpokenRegistry:
    """Schemas by id; the first id is 1. ``answer`` is given instead of a real one while it is set."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.subjects: list[str] = []
        self.seen: list[tuple[str, str, str | None]] = []
        self.answer: tuple[int, bytes] | None = None
        self.more: dict[str, Any] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Answering, self))
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def schema(self, number: int) -> tuple[int, bytes]:
        if 1 <= number <= len(self.texts):
            return 200, json.dumps({"schema": self.texts[number - 1], **self.more}).encode()
        return 404, b'{"error_code": 40403, "message": "Schema not found"}'

    def register(self, subject: str, text: str) -> tuple[int, bytes]:
        if text not in self.texts:
            self.texts.append(text)
            self.subjects.append(subject)
        return 200, json.dumps({"id": self.texts.index(text) + 1}).encode()

    def hold(self, schema: Any) -> int:
        self.texts.append(schema if isinstance(schema, str) else json.dumps(schema))
        return len(self.texts)

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


class Answering(BaseHTTPRequestHandler):
    def __init__(self, registry: SpokenRegistry, *args: Any) -> None:
        self.registry = registry
        super().__init__(*args)

    def _send(self, status: int, body: bytes) -> None:
        self.registry.seen.append((self.command, self.path, self.headers["Authorization"]))
        self.send_response(status)
        self.send_header("Content-Type", JSON)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._send(*(self.registry.answer or self.registry.schema(int(self.path.removeprefix("/schemas/ids/")))))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send(*(self.registry.answer or self.registry.register(self.path.split("/")[2], body["schema"])))

    def log_message(self, *_: object) -> None:
        """Quiet: what was asked is in ``seen``."""


@pytest.fixture
def spoken() -> Iterator[SpokenRegistry]:
    registry = SpokenRegistry()
    yield registry
    registry.stop()


def confluent(schema_id: int, schema: Any, value: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(resolving.plain(schema)), value)
    return b"\x00" + schema_id.to_bytes(4, "big") + out.getvalue()


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda record: type(record).__name__)
def test_a_record_in_confluent_framing_comes_back_through_another_client(spoken: SpokenRegistry, record: Record) -> None:
    raw = Codec(Framing.CONFLUENT, Registry(spoken.url)).encode(record)
    view = type(record)
    assert raw == confluent(1, current(view).tree, asdict(record))
    assert spoken.subjects == [f"qr.render.v1.{view.__name__}"]
    assert Codec(registry=Registry(spoken.url)).decode(raw, view) == record


def test_the_registry_is_asked_once_for_a_schema_however_many_records_there_are(spoken: SpokenRegistry) -> None:
    writer, reader = Codec(Framing.CONFLUENT, Registry(spoken.url)), Codec(registry=Registry(spoken.url))
    for _ in range(3):
        reader.decode(writer.encode(EXAMPLES[4]), MarkerRow)
    assert spoken.seen == [
        ("POST", "/subjects/qr.render.v1.MarkerRow/versions", None),
        ("GET", "/schemas/ids/1", None),
    ]


def test_both_framings_are_read_whichever_is_written(spoken: SpokenRegistry) -> None:
    single, confluent_writer = Codec(), Codec(Framing.CONFLUENT, Registry(spoken.url))
    for raw in (single.encode(EXAMPLES[0]), confluent_writer.encode(EXAMPLES[0])):
        assert confluent_writer.decode(raw, RenderRequested) == EXAMPLES[0]
    assert single.encode(EXAMPLES[0])[:2] == b"\xc3\x01"


def test_a_publisher_with_a_schema_of_fewer_fields_is_understood(spoken: SpokenRegistry) -> None:
    schema = {
        "type": "record", "name": "qr.render.v1.RenderRequested", "fields": [
            {"name": "content", "type": "string"}, {"name": "requested_at", "type": "long"},
            {"name": "request_id", "type": "string"}, {"name": "size", "type": "int"},
        ],
    }  # fmt: skip
    raw = confluent(spoken.hold(schema), schema, {"content": "c", "requested_at": NOW, "request_id": "r", "size": 300})
    codec = Codec(registry=Registry(spoken.url))
    assert codec.decode(raw, RenderRequested) == RenderRequested(request_id="r", content="c", size=300.0, requested_at=NOW)
    for end in range(len(raw)):
        with pytest.raises(UndecodableError):
            codec.decode(raw[:end], RenderRequested)
    with pytest.raises(UndecodableError, match="2 bytes after the record"):
        codec.decode(raw + b"\x00\x00", RenderRequested)


NAMED = {"type": "record", "name": "RenderRequested", "namespace": "qr.render.v1"}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("not json", "schema 1 of the registry is no Avro record"),
        ('"string"', "schema 1 of the registry is no Avro record"),
        ("[]", "schema 1 of the registry is no Avro record"),
        ({"type": "record", "name": "Order", "namespace": "shop", "fields": []}, "is a shop.Order, which is no record of this stream"),
        ({**NAMED, "namespace": "shop", "fields": []}, "is a shop.RenderRequested, which is no record of this stream"),
        ({**NAMED, "fields": []}, "record.request_id: the writer has no such field, and it has no default"),
        ({**NAMED, "fields": [{"name": "x", "type": "nothing"}]}, "is no Avro schema"),
        ({**NAMED, "type": "gibberish"}, "is no Avro schema"),
        (NAMED, "is no Avro schema"),
    ],
)
def test_a_schema_that_ours_cannot_read_makes_its_records_undecodable(spoken: SpokenRegistry, schema: Any, reason: str) -> None:
    spoken.hold(schema)
    with pytest.raises(UndecodableError) as caught:
        Codec(registry=Registry(spoken.url)).decode(b"\x00\x00\x00\x00\x01\x00", RenderRequested)
    assert reason in caught.value.reason


@pytest.mark.parametrize("more", [{"schemaType": "PROTOBUF"}, {"references": [{"name": "x", "subject": "x", "version": 1}]}])
def test_a_schema_that_is_no_avro_or_refers_to_others_makes_its_records_undecodable(spoken: SpokenRegistry, more: Any) -> None:
    spoken.hold(current(MarkerRow).text)
    spoken.more = more
    with pytest.raises(UndecodableError, match=r"schema 1 of .* is not Avro complete in itself"):
        Codec(registry=Registry(spoken.url)).decode(b"\x00\x00\x00\x00\x01\x00", MarkerRow)


def test_an_id_that_the_registry_has_not_makes_its_records_undecodable(spoken: SpokenRegistry) -> None:
    with pytest.raises(UndecodableError, match="answered 404 to /schemas/ids/7: Schema not found"):
        Codec(registry=Registry(spoken.url)).decode(b"\x00\x00\x00\x00\x07\x00", MarkerRow)


def test_a_record_of_another_type_is_refused_by_name(spoken: SpokenRegistry) -> None:
    raw = Codec(Framing.CONFLUENT, Registry(spoken.url)).encode(EXAMPLES[4])
    with pytest.raises(UndecodableError, match="the record is a MarkerRow, not a RenderRequested"):
        Codec(registry=Registry(spoken.url)).decode(raw, RenderRequested)


def test_a_framing_that_is_cut_short_asks_nobody(spoken: SpokenRegistry) -> None:
    with pytest.raises(UndecodableError, match="cut short: 4 bytes are not the whole framing"):
        Codec(registry=Registry(spoken.url)).decode(b"\x00\x00\x00\x00", MarkerRow)
    assert spoken.seen == []


# A registry that gives no answer says nothing about the bytes


def test_a_registry_that_is_down_is_unavailable_and_its_records_are_not_undecodable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(RegistryUnavailableError, match=f"the schema registry at {url} cannot be reached: .*refused"):
            Codec(registry=Registry(url)).decode(b"\x00\x00\x00\x00\x01\x00", MarkerRow)


def test_a_registry_that_never_answers_is_given_up_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RegistryUnavailableError, match="cannot be reached: timed out"):
            Registry(url, timeout_s=0.05).schema_text(1)


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        ((500, b""), RegistryUnavailableError, "answered 500 to /schemas/ids/1"),
        ((503, b'{"message": "leader is moving"}'), RegistryUnavailableError, "answered 503 to /schemas/ids/1: leader is moving"),
        ((429, b"[]"), RegistryUnavailableError, "answered 429 to /schemas/ids/1"),
        ((401, b'{"message": "who are you"}'), RegistryError, "answered 401 to /schemas/ids/1: who are you"),
        ((404, b"<html>"), UnknownSchemaError, "answered 404 to /schemas/ids/1"),
        ((200, b"<html>"), RegistryUnavailableError, "did not answer with a JSON object: is this a schema registry"),
        ((200, b"[1]"), RegistryUnavailableError, "did not answer with a JSON object: is this a schema registry"),
        ((200, b"\xff"), RegistryUnavailableError, "did not answer with a JSON object: is this a schema registry"),
        ((200, b" " * (1 << 20) + b"{}"), RegistryUnavailableError, "did not answer with a JSON object: is this a schema registry"),
        ((200, b'{"schema": 5}'), RegistryUnavailableError, "has no schema: is this a schema registry"),
    ],
)
def test_each_answer_is_one_clear_line(spoken: SpokenRegistry, answer: tuple[int, bytes], kind: type[Exception], message: str) -> None:
    spoken.answer = answer
    with pytest.raises(RegistryError) as caught:
        Registry(spoken.url).schema_text(1)
    assert type(caught.value) is kind
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_refused_schema_is_no_matter_of_waiting(spoken: SpokenRegistry) -> None:
    spoken.answer = (409, b'{"error_code": 409, "message": "Schema being registered is incompatible"}')
    with pytest.raises(RegistryError, match=r"answered 409 .*: Schema being registered is incompatible") as caught:
        Codec(Framing.CONFLUENT, Registry(spoken.url)).encode(EXAMPLES[0])
    assert type(caught.value) is RegistryError


def test_a_registry_that_was_down_is_asked_again(spoken: SpokenRegistry) -> None:
    registry = Registry(spoken.url)
    spoken.hold(current(MarkerRow).text)
    spoken.answer = (503, b"")
    with pytest.raises(RegistryUnavailableError):
        registry.schema_text(1)
    spoken.answer = None
    assert registry.schema_text(1) == current(MarkerRow).text


def test_the_password_of_the_url_is_sent_and_never_shown(spoken: SpokenRegistry) -> None:
    registry = Registry(f"http://ann:p%40ss@{spoken.host}/")
    with pytest.raises(UnknownSchemaError) as caught:
        registry.schema_text(9)
    assert spoken.seen == [("GET", "/schemas/ids/9", "Basic YW5uOnBAc3M=")]
    assert "p%40ss" not in str(caught.value) + registry.url


@pytest.mark.parametrize("url", ["", "registry:8081", "file:///etc/passwd", "http://", "ftp://host/"])
def test_an_address_that_is_no_http_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="the schema registry's URL must be http"):
        Registry(url)
