"""Which bucket, at which endpoint, with whose credentials: from our settings, and where they are silent from AWS_*."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from streams.settings import Settings, SettingsError

if TYPE_CHECKING:
    from obstore.store import S3Credential

# Naming rules of S3; the prefix in characters that are the same in a key and in a URI.
_URL = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?P<prefix>(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*)/?")


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """Where a bucket is.

    Attributes:
        prefix: begins each key, without slashes at its ends; empty for none.
        endpoint: URL of the server; None for AWS's own of the region.
        credentials: key id, secret and session token; None for what the AWS_* environment or the machine's role gives.
    """

    bucket: str
    prefix: str
    region: str
    endpoint: str | None
    credentials: tuple[str, SecretStr, SecretStr | None] | None

    @property
    def url(self) -> str:
        """`s3://bucket/prefix`."""
        return "/".join(("s3:/", self.bucket, *([self.prefix] if self.prefix else [])))

    @property
    def plain_http(self) -> bool:
        """Whether the endpoint is without TLS."""
        return self.endpoint is not None and self.endpoint.startswith("http://")

    def connection(self) -> dict[str, Any]:
        """Arguments of obstore's S3Store that are only there when they are set.

        Credentials go in by a call: given as options, they would be joined by AWS_SESSION_TOKEN of another key.
        """
        arguments: dict[str, Any] = {}
        if self.endpoint is not None:
            arguments["endpoint"] = self.endpoint
        if self.credentials is not None:
            arguments["credential_provider"] = self._credential
        return arguments

    def _credential(self) -> S3Credential:
        assert self.credentials is not None
        key_id, secret, token = self.credentials
        return {
            "access_key_id": key_id,
            "secret_access_key": secret.get_secret_value(),
            "token": token.get_secret_value() if token else None,
            "expires_at": None,
        }


def bucket_address(settings: Settings) -> BucketAddress:
    """The bucket of QR_ARTIFACT_STORE=s3://….

    Raises:
        SettingsError: one line that names the setting.
    """
    match = _URL.fullmatch(settings.artifact_store)
    if match is None:
        raise SettingsError(f"QR_ARTIFACT_STORE={settings.artifact_store}: give s3://bucket or s3://bucket/prefix, the prefix in letters, digits and . _ ~ - /")
    credentials = None
    if settings.s3_access_key_id is not None and settings.s3_secret_access_key is not None:
        credentials = (settings.s3_access_key_id, settings.s3_secret_access_key, settings.s3_session_token)
    return BucketAddress(
        bucket=match["bucket"],
        prefix=match["prefix"].strip("/"),
        region=settings.s3_region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1",
        endpoint=_endpoint(settings),
        credentials=credentials,
    )


def _endpoint(settings: Settings) -> str | None:
    named = [("QR_S3_ENDPOINT", settings.s3_endpoint), *((name, os.environ.get(name)) for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))]
    for name, endpoint in named:
        if endpoint:
            _refuse_unfit(name, endpoint, settings)
            return endpoint.rstrip("/")
    return None


def _refuse_unfit(name: str, endpoint: str, settings: Settings) -> None:
    """Checked here: obstore panics on a URL that it cannot read."""
    try:
        url = urlsplit(endpoint)
        sound = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0 and not (url.username or url.password or url.query or url.fragment)
    except ValueError:
        raise SettingsError(f"{name}={endpoint!a}: it is no URL") from None
    if not sound or not re.fullmatch(r"[!-~]+", endpoint):
        # Not shown: it may hold a password.
        raise SettingsError(f"{name}: give https://host[:port][/path] and nothing else; credentials have settings of their own")
    if url.scheme == "http" and not _is_loopback(url.hostname or ""):
        if settings.mode == "production":
            raise SettingsError(f"{name}={endpoint}: with QR_MODE=production artifacts travel over https only, but for this machine's own addresses")
        if not settings.s3_allow_http:
            raise SettingsError(f"{name}={endpoint}: http to another machine shows the artifacts to the network; use https, or set QR_S3_ALLOW_HTTP=true")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
