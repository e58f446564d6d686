"""Objects in an S3 bucket, through obstore: one request each, with its own time limit and without retries.

Retrying is the stream's: it parks the request, so that other work goes on meanwhile (docs/errors.md).

How it is known that the server has what was sent: an ETag that is the MD5 of our bytes says so (S3 without
KMS encryption, and most servers). Where it is something else, the object is read back. The signed
`x-amz-content-sha256` would do too, but a client can't see whether a server compares it.
"""

from __future__ import annotations

from datetime import timedelta
from hashlib import md5, sha256

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import S3Store

from processors.images.formats import FORMATS
from streams.artifacts.bucket_address import BucketAddress
from streams.artifacts.bucket_errors import FAILURES, failure_of, no_such_bucket
from streams.artifacts.deadline import Deadline
from streams.artifacts.errors import StoreUnavailable
from streams.artifacts.objects import StoredObject

_NOTE = "sha256"
"""Metadata of an object: the header x-amz-meta-sha256."""
# Shorter than the 60 s after which proxies and servers commonly close idle connections: without retries, a
# request on a connection that is just being closed would be a failed put.
_IDLE = timedelta(seconds=15)


class BucketObjects:
    """Objects below a prefix of one bucket."""

    def __init__(self, address: BucketAddress, timeout: float) -> None:
        """`timeout`: of a whole call, in seconds; a request gets half of it."""
        self._address = address
        request = timedelta(seconds=timeout / 2)
        self._store = S3Store(
            address.bucket,
            prefix=address.prefix or None,
            region=address.region,
            client_options={
                "allow_http": address.plain_http,
                "timeout": request,
                "connect_timeout": min(request, timedelta(seconds=5)),
                "pool_idle_timeout": _IDLE,
            },
            retry_config={"max_retries": 0},
            **address.connection(),
        )
        self.keeps_first = True

    def reference(self, key: str) -> str:
        """`s3://bucket/prefix/key`."""
        return f"{self._address.url}/{key}"

    def read(self, key: str, deadline: Deadline) -> StoredObject | None:
        """GET."""
        deadline.check(key)
        try:
            got = obstore.get(self._store, key)
            return StoredObject(bytes(got.bytes()), got.attributes.get(_NOTE), got.meta["e_tag"])
        except FileNotFoundError as exc:
            if no_such_bucket(exc):
                raise failure_of(exc, self._what("GET", key)) from None
            return None
        except FAILURES as exc:
            raise failure_of(exc, self._what("GET", key)) from None

    def create(self, key: str, content: bytes, checksum: str, deadline: Deadline) -> bool:
        """PUT with `If-None-Match: *` (RFC 9110, 13.1.2); on a server that ignores it, look first."""
        if not self.keeps_first and self.read(key, deadline) is not None:
            return False
        return self._write(key, content, checksum, "create", deadline)

    def replace(self, key: str, content: bytes, checksum: str, seen: StoredObject | None, deadline: Deadline) -> bool:
        """PUT with `If-Match` and the ETag that was seen."""
        if seen is None or seen.version is None:
            return self.create(key, content, checksum, deadline)
        mode: obstore.PutMode = {"e_tag": seen.version} if self.keeps_first else "overwrite"
        return self._write(key, content, checksum, mode, deadline)

    def learn_whether_it_keeps_the_first(self, key: str, deadline: Deadline) -> bool:
        """Put one object twice as if it were absent, and see whether the second put is refused; it stays.

        Raises:
            StoreUnavailable: the bucket cannot be written, or does not answer.
        """
        self.keeps_first = True
        twice = [self._write(key, b"qrstream", sha256(b"qrstream").hexdigest(), "create", deadline) for _ in range(2)]
        self.keeps_first = not twice[1]
        return self.keeps_first

    def _write(self, key: str, content: bytes, checksum: str, mode: obstore.PutMode, deadline: Deadline) -> bool:
        deadline.check(key)
        attributes: obstore.Attributes = {_NOTE: checksum}
        file_format = FORMATS.get(key.rpartition(".")[2])
        if file_format is not None:
            attributes["Content-Type"] = file_format.media_type
        try:
            answer = obstore.put(self._store, key, content, attributes=attributes, mode=mode, use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        except FAILURES as exc:
            raise failure_of(exc, self._what("PUT", key)) from None
        if (answer["e_tag"] or "").strip('"') != md5(content, usedforsecurity=False).hexdigest():
            stored = self.read(key, deadline)
            if stored is None or stored.content != content:
                raise StoreUnavailable(f"{self._what('PUT', key)}: the server has other bytes than were sent", "damaged")
        return True

    def _what(self, method: str, key: str) -> str:
        return f"{method} {self.reference(key)}"
