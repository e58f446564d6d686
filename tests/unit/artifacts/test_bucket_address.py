"""Which bucket and server the settings mean; a wrong one is one line."""

from __future__ import annotations

import pytest

from streams.artifacts.bucket_address import BucketAddress, bucket_address
from streams.settings import SettingsError, load_settings

KEYS = {"s3_access_key_id": "mine", "s3_secret_access_key": "hunter2"}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)


def address(**settings: object) -> BucketAddress:
    return bucket_address(load_settings(**{"artifact_store": "s3://bucket", **settings}))


@pytest.mark.parametrize(
    ("store", "bucket", "prefix", "url"),
    [
        ("s3://bucket", "bucket", "", "s3://bucket"),
        ("s3://bucket/", "bucket", "", "s3://bucket"),
        ("s3://my.bucket-1/a/B_c~d.e/", "my.bucket-1", "a/B_c~d.e", "s3://my.bucket-1/a/B_c~d.e"),
    ],
)
def test_a_bucket_with_or_without_prefix(store: str, bucket: str, prefix: str, url: str) -> None:
    found = address(artifact_store=store)
    assert (found.bucket, found.prefix, found.url, found.endpoint, found.region) == (bucket, prefix, url, None, "us-east-1")


@pytest.mark.parametrize("store", ["s3://b", "s3://UPPER", "s3://bucket//a", "s3://bucket/../other", "s3://bucket/a/./b", "s3://bucket/a b", "s3://bucket/%2e", "s3://bucket/a?b", "s3://key:secret@bucket"])
def test_what_is_no_bucket_or_would_read_differently_as_a_key_is_refused(store: str) -> None:
    with pytest.raises(SettingsError, match="give s3://bucket or s3://bucket/prefix"):
        address(artifact_store=store)


def test_our_settings_win_over_those_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://aws.example/")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert (address().endpoint, address().region) == ("https://aws.example", "eu-west-1")
    ours = address(s3_endpoint="https://ours.example:9000", s3_region="eu-central-2")
    assert (ours.endpoint, ours.region) == ("https://ours.example:9000", "eu-central-2")


def test_our_key_is_not_joined_by_a_session_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of another key")
    given = address(**KEYS).connection()["credential_provider"]()
    assert given == {"access_key_id": "mine", "secret_access_key": "hunter2", "token": None, "expires_at": None}


def test_without_a_key_of_ours_the_environment_or_the_machine_gives_one() -> None:
    assert address().connection() == {}


@pytest.mark.parametrize("one", ["s3_access_key_id", "s3_secret_access_key"])
def test_half_a_key_is_refused(one: str) -> None:
    with pytest.raises(SettingsError, match=r"^QR_S3_ACCESS_KEY_ID and QR_S3_SECRET_ACCESS_KEY go together"):
        load_settings(**{one: KEYS[one]})


@pytest.mark.parametrize("endpoint", ["localhost:9000", "ftp://host", "https://", "https://host:port", "https://user:hunter2@host", "https://host/?a=b", "https://ho st", "https://[::1"])
def test_what_is_no_address_of_a_server_is_refused_without_showing_a_password(endpoint: str) -> None:
    with pytest.raises(SettingsError, match=r"^QR_S3_ENDPOINT") as raised:
        address(s3_endpoint=endpoint)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000"])
def test_http_to_this_machine_is_taken(endpoint: str) -> None:
    found = address(s3_endpoint=endpoint, mode="production")
    assert (found.endpoint, found.plain_http) == (endpoint, True)


def test_http_to_another_machine_is_taken_only_when_asked_for_and_never_in_production() -> None:
    with pytest.raises(SettingsError, match="set QR_S3_ALLOW_HTTP=true"):
        address(s3_endpoint="http://minio:9000")
    assert address(s3_endpoint="http://minio:9000", s3_allow_http=True).plain_http
    with pytest.raises(SettingsError, match="QR_MODE=production"):
        address(s3_endpoint="http://minio:9000", s3_allow_http=True, mode="production")


def test_https_is_not_plain() -> None:
    assert not address(s3_endpoint="https://minio:9000").plain_http
