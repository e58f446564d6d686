"""The artifact store against a real S3 server over HTTP, behind a proxy that breaks things."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from streams.artifacts.errors import (
    ArtifactConflict,
    ArtifactCorrupt,
    ArtifactMissing,
    StoreRefuses,
    StoreUnavailable,
    StoreUnreachable,
)
from streams.artifacts.opening import open_store
from streams.artifacts.store import ArtifactStore
from streams.exit_codes import ExitCode
from streams.settings import Settings, SettingsError, load_settings
from tests.support.artifacts import CHECKSUM, CONTENT, KEY, OTHER, checksum_of
from tests.support.fault_proxy import Fault, FaultProxy, fault_proxy
from tests.support.s3_server import S3Server, s3_server

pytestmark = [pytest.mark.integration]
TIMEOUT_S = 60.0
"""For stores whose patience is not what a test is about, on a machine whose cores others may have taken."""
STORED = f"pre/fix/{KEY}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def proxy(server: S3Server) -> Iterator[FaultProxy]:
    with fault_proxy(server.port) as running:
        yield running


@pytest.fixture
def bucket(server: S3Server) -> str:
    return server.make_bucket(f"b-{uuid.uuid4().hex}")


def settings_of(bucket: str, endpoint: str, **changed: object) -> Settings:
    given: dict[str, object] = {
        "artifact_store": f"s3://{bucket}/pre/fix",
        "s3_endpoint": endpoint,
        "s3_region": "us-east-1",
        "s3_access_key_id": "test",
        "s3_secret_access_key": "secret",
        "store_timeout": TIMEOUT_S,
    }
    return load_settings(**{**given, **changed})


Opened = Callable[..., ArtifactStore]


@pytest.fixture
def opened(bucket: str, proxy: FaultProxy) -> Opened:
    """Opens another store on the test's bucket, through the proxy, with changed settings."""

    def open_one(**changed: object) -> ArtifactStore:
        store = open_store(settings_of(bucket, proxy.endpoint, **changed))
        assert store is not None
        return store

    return open_one


@pytest.fixture
def store(opened: Opened) -> ArtifactStore:
    return opened()


def test_what_was_put_is_there_by_its_reference_with_its_checksum_and_media_type(store: ArtifactStore, server: S3Server, bucket: str) -> None:
    assert store.put(KEY, CONTENT, CHECKSUM) == f"s3://{bucket}/{STORED}"
    assert store.get(KEY, CHECKSUM) == CONTENT
    assert server.content(bucket, STORED) == CONTENT
    headers = server.headers(bucket, STORED)
    assert (headers["x-amz-meta-sha256"], headers["content-type"]) == (CHECKSUM, "image/png")
    assert store.key_of(f"s3://{bucket}/{STORED}") == KEY
    assert store.counts.count("put", "ok") == 1
    assert store.counts.count("get", "ok") == 1


def test_a_put_of_what_is_there_adopts_it_and_writes_nothing(store: ArtifactStore, server: S3Server, bucket: str) -> None:
    reference = store.put(KEY, CONTENT, CHECKSUM)
    before = server.headers(bucket, STORED)["last-modified"], server.headers(bucket, STORED)["etag"]
    assert store.put(KEY, CONTENT, CHECKSUM) == reference
    assert (server.headers(bucket, STORED)["last-modified"], server.headers(bucket, STORED)["etag"]) == before
    assert store.counts.count("put", "adopted") == 1


def test_of_two_writers_at_once_one_puts_and_the_other_adopts(opened: Opened) -> None:
    stores = [opened(), opened()]
    together = Barrier(2)

    def put(store: ArtifactStore) -> str:
        together.wait(TIMEOUT_S)
        return store.put(KEY, CONTENT, CHECKSUM)

    with ThreadPoolExecutor(2) as threads:
        references = list(threads.map(put, stores))
    assert references[0] == references[1]
    assert sum(store.counts.count("put", "ok") for store in stores) == 1
    assert sum(store.counts.count("put", "adopted") for store in stores) == 1


def test_of_two_writers_with_different_bytes_one_is_refused(opened: Opened, server: S3Server, bucket: str) -> None:
    stores = [opened(), opened()]
    together = Barrier(2)

    def put(store: ArtifactStore, content: bytes) -> bytes | None:
        together.wait(TIMEOUT_S)
        try:
            store.put(KEY, content, checksum_of(content))
        except ArtifactConflict:
            return None
        return content

    with ThreadPoolExecutor(2) as threads:
        kept = list(threads.map(put, stores, (CONTENT, OTHER)))
    assert kept.count(None) == 1
    assert server.content(bucket, STORED) in kept


def test_other_bytes_under_a_key_are_a_conflict_and_stay(store: ArtifactStore, server: S3Server, bucket: str) -> None:
    store.put(KEY, OTHER, checksum_of(OTHER))
    for write in (store.put, store.replace):
        with pytest.raises(ArtifactConflict) as raised:
            write(KEY, CONTENT, CHECKSUM)
        assert (raised.value.code, raised.value.stored, raised.value.offered) == ("artifact_conflict", checksum_of(OTHER), CHECKSUM)
    assert server.content(bucket, STORED) == OTHER
    assert store.counts.count("put", "conflict") == 1
    assert store.counts.count("replace", "conflict") == 1


def test_a_missing_object_is_missing_and_can_be_put_again(store: ArtifactStore, server: S3Server, bucket: str) -> None:
    store.put(KEY, CONTENT, CHECKSUM)
    server.delete(bucket, STORED)
    with pytest.raises(ArtifactMissing):
        store.get(KEY, CHECKSUM)
    assert store.find(KEY) is None
    store.put(KEY, CONTENT, CHECKSUM)
    assert store.get(KEY, CHECKSUM) == CONTENT
    assert store.counts.count("get", "missing") == 1
    assert store.counts.count("find", "missing") == 1


def test_a_corrupt_object_is_never_served_or_adopted_and_is_replaced_once(store: ArtifactStore, server: S3Server, bucket: str) -> None:
    server.overwrite(bucket, STORED, CONTENT[:-1], sha256=CHECKSUM)
    with pytest.raises(ArtifactCorrupt):
        store.get(KEY, CHECKSUM)
    assert store.find(KEY) is None
    store.replace(KEY, CONTENT, CHECKSUM)
    store.replace(KEY, CONTENT, CHECKSUM)
    assert store.get(KEY, CHECKSUM) == CONTENT
    assert server.content(bucket, STORED) == CONTENT
    assert store.counts.count("get", "corrupt") == 1
    assert store.counts.count("find", "corrupt") == 1
    assert store.counts.count("replace", "ok") == 1
    assert store.counts.count("replace", "adopted") == 1


def test_a_put_mends_a_damaged_object_that_was_noted_as_the_same(store: ArtifactStore, server: S3Server, bucket: str) -> None:
    server.overwrite(bucket, STORED, CONTENT[:-1], sha256=CHECKSUM)
    store.put(KEY, CONTENT, CHECKSUM)
    assert server.content(bucket, STORED) == CONTENT
    assert store.counts.count("put", "mended") == 1


def test_a_replacement_does_not_overwrite_what_has_changed_since_it_was_seen(store: ArtifactStore, server: S3Server, proxy: FaultProxy, bucket: str) -> None:
    server.overwrite(bucket, STORED, CONTENT[:-1], sha256=CHECKSUM)

    def another_writer_is_quicker(head: bytes) -> bytes:
        server.overwrite(bucket, STORED, CONTENT[:-2], sha256=CHECKSUM)
        return head

    proxy.once(Fault(methods=("PUT",), edit_request=another_writer_is_quicker))
    with pytest.raises(StoreUnavailable, match="another worker"):
        store.replace(KEY, CONTENT, CHECKSUM)
    assert server.content(bucket, STORED) == CONTENT[:-2]


def test_find_gives_what_a_dead_owner_has_put(opened: Opened) -> None:
    opened().put(KEY, CONTENT, CHECKSUM)
    heir = opened()
    assert heir.find(KEY) == CONTENT
    assert heir.counts.count("find", "found") == 1


def test_an_answer_lost_after_the_put_is_unavailable_and_the_next_put_adopts(store: ArtifactStore, server: S3Server, proxy: FaultProxy, bucket: str) -> None:
    proxy.once(Fault(methods=("PUT",), drop=True))
    with pytest.raises(StoreUnavailable) as raised:
        store.put(KEY, CONTENT, CHECKSUM)
    assert raised.value.code == "store_unavailable"
    assert server.content(bucket, STORED) == CONTENT
    store.put(KEY, CONTENT, CHECKSUM)
    assert store.counts.count("put", "failed") == 1
    assert store.counts.count("put", "adopted") == 1
    assert store.counts.count("put", "ok") == 0


def test_bytes_damaged_on_their_way_in_are_not_called_stored_and_the_next_put_mends_them(store: ArtifactStore, server: S3Server, proxy: FaultProxy, bucket: str) -> None:
    proxy.once(Fault(methods=("PUT",), flip_request=True))
    with pytest.raises(StoreUnavailable) as raised:
        store.put(KEY, CONTENT, CHECKSUM)
    assert raised.value.kind == "damaged"
    store.put(KEY, CONTENT, CHECKSUM)
    assert server.content(bucket, STORED) == CONTENT
    assert store.counts.count("put", "mended") == 1


def test_a_byte_flipped_on_its_way_out_is_read_again(store: ArtifactStore, proxy: FaultProxy) -> None:
    store.put(KEY, CONTENT, CHECKSUM)
    flip = Fault(methods=("GET",), flip_answer=True)
    proxy.once(flip)
    assert store.get(KEY, CHECKSUM) == CONTENT
    proxy.once(flip)
    assert store.find(KEY) == CONTENT
    proxy.once(flip)
    store.put(KEY, CONTENT, CHECKSUM)
    assert store.counts.count("put", "adopted") == 1
    proxy.once(flip, flip)
    with pytest.raises(ArtifactCorrupt):
        store.get(KEY, CHECKSUM)


def test_a_call_is_bounded_in_time(opened: Opened, proxy: FaultProxy) -> None:
    store = opened()
    store.put(KEY, CONTENT, CHECKSUM)
    hasty = opened(store_timeout=10.0)
    with proxy.always(Fault(delay=50.0)):
        for call in (lambda: hasty.get(KEY, CHECKSUM), lambda: hasty.put(KEY, CONTENT, CHECKSUM)):
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable, match="no answer in time"):
                call()
            assert 4.9 < time.monotonic() - begun < 10.0
    assert hasty.counts.failures == {("get", "timeout"): 1, ("put", "timeout"): 1}
    assert hasty.counts.calls["get", "failed"].longest > 4.9


def test_threads_do_not_wait_for_each_others_calls(opened: Opened, proxy: FaultProxy) -> None:
    store = opened()
    store.put(KEY, CONTENT, CHECKSUM)
    with proxy.always(Fault(delay=5.0)), ThreadPoolExecutor(8) as threads:
        begun = time.monotonic()
        assert list(threads.map(lambda _: store.get(KEY, CHECKSUM), range(8))) == [CONTENT] * 8
        assert time.monotonic() - begun < 20.0  # one after the other: 40


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=500), "server"),
        (Fault(status=503, body=b"<Error><Code>SlowDown</Code></Error>"), "server"),
        (Fault(status=429), "server"),
        (Fault(status=400, body=b"<Error><Code>RequestTimeout</Code></Error>"), "server"),
        (Fault(drop=True), "connection"),
        (Fault(methods=("GET",), cut=3), "connection"),
    ],
)
def test_what_passes_is_unavailable_and_counted_by_its_kind(store: ArtifactStore, proxy: FaultProxy, fault: Fault, kind: str) -> None:
    store.put(KEY, CONTENT, CHECKSUM)
    proxy.once(fault)
    with pytest.raises(StoreUnavailable) as raised:
        store.get(KEY, CHECKSUM)
    assert type(raised.value) is StoreUnavailable
    assert (raised.value.kind, raised.value.code) == (kind, "store_unavailable")
    assert "\n" not in raised.value.message
    assert store.counts.failures == {("get", kind): 1}
    assert store.get(KEY, CHECKSUM) == CONTENT


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=403, body=b"<Error><Code>AccessDenied</Code></Error>"),
        Fault(status=401),
        Fault(status=400, body=b"<Error><Code>ExpiredToken</Code></Error>"),
        Fault(status=301),
        Fault(status=404, body=b"<Error><Code>NoSuchBucket</Code></Error>"),
        Fault(status=501),
    ],
)
def test_what_has_to_be_repaired_says_so_and_is_not_taken_for_a_missing_object(store: ArtifactStore, proxy: FaultProxy, fault: Fault) -> None:
    proxy.once(fault)
    with pytest.raises(StoreRefuses):
        store.get(KEY, CHECKSUM)
    assert store.counts.failures == {("get", "refused"): 1}


def test_a_server_that_is_away_is_unavailable_until_it_is_back(store: ArtifactStore, proxy: FaultProxy) -> None:
    with proxy.refusing(), pytest.raises(StoreUnavailable) as raised:
        store.put(KEY, CONTENT, CHECKSUM)
    assert raised.value.kind == "connection"
    store.put(KEY, CONTENT, CHECKSUM)
    assert store.get(KEY, CHECKSUM) == CONTENT


def test_no_call_is_repeated_without_the_streams_knowledge(store: ArtifactStore, proxy: FaultProxy) -> None:
    before = len(proxy.requests)
    with proxy.always(Fault(status=503)), pytest.raises(StoreUnavailable):
        store.put(KEY, CONTENT, CHECKSUM)
    assert len(proxy.requests) - before == 1


def test_a_put_is_one_request_where_the_etag_tells_what_arrived(store: ArtifactStore, proxy: FaultProxy) -> None:
    before = len(proxy.requests)
    store.put(KEY, CONTENT, CHECKSUM)
    assert [request.partition(" ")[0] for request in proxy.requests[before:]] == ["PUT"]


def with_an_etag_of_the_servers_own(head: bytes) -> bytes:
    return re.sub(rb"(?i)etag: [^\r]*", b'etag: "0123456789abcdef-1"', head)


def test_where_the_etag_is_something_else_the_put_is_read_back(store: ArtifactStore, proxy: FaultProxy) -> None:
    before = len(proxy.requests)
    with proxy.always(Fault(edit_answer=with_an_etag_of_the_servers_own)):
        store.put(KEY, CONTENT, CHECKSUM)
    assert [request.partition(" ")[0] for request in proxy.requests[before:]] == ["PUT", "GET"]


def without_if_none_match(head: bytes) -> bytes:
    return b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"if-none-match"))


def test_on_a_server_that_ignores_the_condition_the_store_looks_first(opened: Opened, proxy: FaultProxy, server: S3Server, bucket: str) -> None:
    with proxy.always(Fault(edit_request=without_if_none_match)):
        store = opened()
        store.put(KEY, OTHER, checksum_of(OTHER))
        store.put(KEY, OTHER, checksum_of(OTHER))
        with pytest.raises(ArtifactConflict):
            store.put(KEY, CONTENT, CHECKSUM)
        assert server.content(bucket, STORED) == OTHER
        assert store.counts.count("put", "adopted") == 1
        with pytest.raises(SettingsError, match="overwrites in spite of If-None-Match"):
            opened(mode="production")


def test_a_second_start_sees_the_same_server_and_writes_nothing(opened: Opened, server: S3Server, bucket: str) -> None:
    opened(mode="production")
    first = server.headers(bucket, "pre/fix/qrstream-probe/put-if-absent")["etag"]
    opened(mode="production")
    assert server.headers(bucket, "pre/fix/qrstream-probe/put-if-absent")["etag"] == first


def test_a_bucket_that_does_not_exist_is_one_line(proxy: FaultProxy) -> None:
    with pytest.raises(SettingsError) as raised:
        open_store(settings_of("no-such-bucket", proxy.endpoint))
    assert str(raised.value).startswith("QR_ARTIFACT_STORE=s3://no-such-bucket/pre/fix: GET s3://no-such-bucket/pre/fix/")
    assert "404 NoSuchBucket; the bucket must exist" in str(raised.value)
    assert raised.value.exit_code is ExitCode.SETTINGS


def test_refused_credentials_are_one_line_without_the_secret(tmp_path_factory: pytest.TempPathFactory) -> None:
    # The server asks for real credentials from the second call on.
    with s3_server(tmp_path_factory.mktemp("strict"), INITIAL_NO_AUTH_ACTION_COUNT="1") as strict:
        bucket = strict.make_bucket(f"b-{uuid.uuid4().hex}")
        with pytest.raises(SettingsError) as raised:
            open_store(settings_of(bucket, strict.endpoint, s3_secret_access_key="hunter2"))
    assert "403" in str(raised.value)
    assert "QR_S3_*" in str(raised.value)
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_server_that_does_not_answer_at_start_is_worth_another_start(bucket: str, proxy: FaultProxy) -> None:
    with proxy.refusing(), pytest.raises(StoreUnreachable) as raised:
        open_store(settings_of(bucket, proxy.endpoint))
    assert raised.value.exit_code is ExitCode.STORE
    assert "\n" not in str(raised.value)


def test_faults_in_a_row_end_in_the_bytes_that_were_put(store: ArtifactStore, proxy: FaultProxy, server: S3Server, bucket: str) -> None:
    proxy.once(*(Fault(methods=("PUT",), status=503), Fault(methods=("PUT",), flip_request=True), Fault(methods=("PUT",), drop=True), Fault(methods=("GET",), cut=1)))
    failures = []
    for _ in range(10):
        try:
            store.put(KEY, CONTENT, CHECKSUM)
            break
        except StoreUnavailable as exc:
            failures.append(exc.kind)
    # The second put fails while it reads back, because the bytes that arrived have another ETag.
    assert failures == ["server", "connection", "connection"]
    assert server.content(bucket, STORED) == CONTENT
