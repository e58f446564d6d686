"""Open the store that the settings name, and show at start what would fail at the first artifact."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

import structlog

from streams.artifacts.bucket import BucketObjects
from streams.artifacts.bucket_address import bucket_address
from streams.artifacts.deadline import Deadline
from streams.artifacts.errors import StoreRefuses, StoreUnavailable, StoreUnreachable
from streams.artifacts.faults import FaultyStore, store_faults
from streams.artifacts.folder import FolderObjects
from streams.artifacts.objects import Objects
from streams.artifacts.store import ArtifactStore
from streams.settings import Settings, SettingsError

log = structlog.get_logger("streams.artifacts")

_PROBE = "qrstream-probe/put-if-absent"
_NEVER_PUT = "qrstream-probe/never-put"


def open_store(settings: Settings) -> ArtifactStore | None:
    """The store of QR_ARTIFACT_STORE, able to be read and written; None for `kafka`, whose bytes are rows.

    In a bucket one small object stays, `qrstream-probe/put-if-absent`, written by the first start.

    Raises:
        SettingsError: one line: no such folder or bucket, no permission, credentials refused.
        StoreUnreachable: the server does not answer; start again.
    """
    if settings.artifact_store == "kafka":
        return None
    objects: Objects = _folder(settings) if settings.artifact_store.startswith("file:") else _bucket(settings)
    faults = store_faults(settings)
    if faults is not None:
        log.warning("store_faults", reason="QR_FAULT_STORE_* makes artifacts fail or late on purpose", rate=faults.rate, seconds=faults.seconds)
        objects = FaultyStore(objects, faults, settings.store_timeout / 2)
    return ArtifactStore(objects, settings.store_timeout)


def _folder(settings: Settings) -> FolderObjects:
    said = f"QR_ARTIFACT_STORE={settings.artifact_store}"
    url = urlsplit(settings.artifact_store)
    folder = Path(unquote(url.path))
    if url.netloc or url.query or url.fragment or "\x00" in str(folder) or ".." in folder.parts:
        raise SettingsError(f"{said}: give file:///absolute/folder, with % # ? and spaces percent-encoded")
    if not folder.is_dir():
        # Not made here: below a mount point that is not mounted, it would be made on the wrong disk.
        raise SettingsError(f"{said}: there is no folder {folder}; make or mount it first")
    objects = FolderObjects(folder)
    try:
        objects.open()
    except OSError as exc:
        raise SettingsError(f"{said}: files cannot be made and linked there: {os.strerror(exc.errno or 0)}") from None
    return objects


def _bucket(settings: Settings) -> BucketObjects:
    address = bucket_address(settings)
    said = f"QR_ARTIFACT_STORE={settings.artifact_store}"
    objects = BucketObjects(address, settings.store_timeout)
    try:
        # Without s3:ListBucket, S3 answers 403 for an object that is not there (GetObject, "Permissions").
        objects.read(_NEVER_PUT, Deadline(settings.store_timeout))
        keeps_first = objects.learn_whether_it_keeps_the_first(_PROBE, Deadline(settings.store_timeout))
    except StoreRefuses as exc:
        raise SettingsError(f"{said}: {exc.message}; the bucket must exist, and QR_S3_* or AWS_* give credentials that may list, get and put there") from None
    except StoreUnavailable as exc:
        raise StoreUnreachable(f"{said}: {exc.message}") from None
    if not keeps_first:
        reason = f"{said}: the server overwrites in spite of If-None-Match, so two workers could put different bytes one after the other"
        if settings.mode == "production":
            raise SettingsError(f"{reason}; QR_MODE=production asks for a server that does not")
        log.warning("store_overwrites", reason=reason)
    return objects
