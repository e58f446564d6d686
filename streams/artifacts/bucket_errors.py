"""What an exception of obstore means; each is mapped, by its class and by what the server answered.

obstore gives one class, GenericError, for most of what can happen, and no attribute: the status, the server's code
and the kind of a failed connection are read from its text (a test meets each of them with a real server).
"""

from __future__ import annotations

import re
from typing import Final

from obstore.exceptions import (
    BaseError,
    InvalidPathError,
    NotSupportedError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnknownConfigurationKeyError,
)

from streams.artifacts.errors import StoreRefuses, StoreUnavailable

FAILURES: Final = (BaseError, FileNotFoundError)
"""What obstore raises about a store; a missing object is the built-in FileNotFoundError."""

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z0-9]{1,60})</Code>")
_PASSES: Final = frozenset({"408", "409", "425", "429"})
_PASSING_CODES: Final = frozenset({"RequestTimeout", "SlowDown"})
"""Told with status 400 and 403 by some servers."""
_OURS: Final = (InvalidPathError, UnknownConfigurationKeyError)
"""A key or an option that we made: a fault of the program, which no retry repairs."""


def failure_of(error: Exception, what: str) -> StoreUnavailable:
    """The error that the stream knows for one of `FAILURES`; `what` names the operation and the object.

    Raises:
        InvalidPathError, UnknownConfigurationKeyError: the one that was given.
    """
    if isinstance(error, _OURS):
        raise error
    text = str(error)
    status, code = _found(_STATUS, text), _found(_CODE, text)
    message = f"{what}: {' '.join(part for part in (status, code) if part) or _first_line(text)}"
    if isinstance(error, PermissionDeniedError | UnauthenticatedError | NotSupportedError | FileNotFoundError):
        return StoreUnavailable(message, "server") if code in _PASSING_CODES else StoreRefuses(message, "refused")
    if status.startswith("5") or status in _PASSES or code in _PASSING_CODES:
        return StoreRefuses(message, "refused") if status == "501" else StoreUnavailable(message, "server")
    if status or "without LOCATION" in text:  # S3 redirects a request to the wrong region
        return StoreRefuses(message, "refused")
    if "kind: Timeout" in text:
        return StoreUnavailable(f"{what}: no answer in time", "timeout")
    connection = any(f"kind: {kind}" in text for kind in ("Connect", "Request", "Interrupted", "Body"))
    return StoreUnavailable(message, "connection" if connection else "other")


def no_such_bucket(error: FileNotFoundError) -> bool:
    """Whether a 404 is about the bucket: then it says nothing about the object."""
    return _found(_CODE, str(error)) == "NoSuchBucket"


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:200]
