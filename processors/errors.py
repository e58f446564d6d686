"""Every way a request can fail, declared once.

    RenderError
    ├── RequestRefused     the request has no canonical form, or cannot be read
    ├── RenderRefused      the request is sound; its symbol cannot be made
    └── StreamRefused      the record or its time is wrong, whatever it asks for

`TABLE` says for each code what the stream does about it; docs/errors.md is
generated from it by `markdown()` and a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping


class ErrorClass(StrEnum):
    """What trying again would bring."""

    PERMANENT = "permanent"
    """The same request fails in the same way for ever."""
    TRANSIENT = "transient"
    """The cause passes; the stream tries again by itself, then gives up."""
    POISON = "poison"
    """The record, or our own code, is at fault; someone has to look."""


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the table.

    failed_event: a RenderFailed event is published.
    dead_letter: the record goes to the dead letters with its bytes untouched.
    negative_cache: the failure follows from the canonical form alone, so later
        requests for the same content hash are answered with it. For a transient
        code the three columns say what happens once its attempts are used up.
    has_canonical_form: the failed event always has a content hash; where false
        it may be null.
    """

    code: str
    error_class: ErrorClass
    failed_event: bool
    dead_letter: bool
    negative_cache: bool
    has_canonical_form: bool
    meaning: str
    what_to_do: str


_P, _T, _X = ErrorClass.PERMANENT, ErrorClass.TRANSIENT, ErrorClass.POISON

# fmt: off
_ROWS = (
    #         code                 class failed  letter cached canonical
    ErrorCode("content_empty",       _P, True,  False, False, False,
              "there is nothing to encode",
              "Send at least one byte of content."),
    ErrorCode("invalid_content",     _P, True,  False, False, False,
              "the content is not text that UTF-8 can hold, or not base64",
              "Repair the unpaired surrogate, or send the bytes as content_base64."),
    ErrorCode("invalid_payload",     _P, True,  False, False, False,
              "a payload is not what its content type's standard allows",
              "Correct the field that the message names; docs/content-types.md has them all."),
    ErrorCode("invalid_option",      _P, True,  False, False, False,
              "an option has a value that is not allowed",
              "Correct the field that the message names."),
    ErrorCode("invalid_request",     _P, False, False, False, False,
              "the line is no JSON object with the members of a request; nothing was published",
              "Correct the line; the message names the member."),
    ErrorCode("content_too_long",    _P, True,  False, True,  True,
              "no QR Code of the asked error correction level holds the content",
              "Shorten the content or ask for a lower level; the message names the limit."),
    ErrorCode("unscannable",         _P, True,  False, True,  True,
              "the colours cannot be told apart, or QR_SCAN_POLICY=refuse refuses what may keep a reader from the symbol",
              "Change what the message names: the colours, the margin, the scale; docs/scanning.md."),
    ErrorCode("format_unavailable",  _P, True,  False, True,  True,
              "the format cannot do what an option asks for",
              "Leave out the option that the message names, or ask for another format."),
    ErrorCode("size_too_small",      _P, True,  False, True,  True,
              "the size gives a module less than one pixel",
              "Ask for at least the size that the message names, or a smaller margin."),
    ErrorCode("size_too_large",      _P, True,  False, True,  True,
              "the image would have more pixels a side than the profile makes",
              "Ask for a smaller scale, size or margin; the message names the limit."),
    ErrorCode("output_too_large",    _P, True,  True,  True,  True,
              "the artifact has more bytes than the stream carries",
              "Ask for a smaller scale or size, or deliver by reference."),
    ErrorCode("verification_failed", _X, True,  True,  True,  True,
              "the symbol does not read back to the content",
              "Report it with the dead letter: this is a fault of the renderer."),
    ErrorCode("render_failed",       _X, True,  True,  False, True,
              "the renderer raised an error that it does not know",
              "Report it with the dead letter, and replay it after the repair."),
    ErrorCode("renderer_crash",      _X, True,  True,  False, True,
              "what handles the request died of it three times",
              "Report it with the dead letter, and replay it after the repair; docs/poison.md says what kills."),
    ErrorCode("deadline_exceeded",   _P, True,  False, False, True,
              "the request's deadline had passed before it was looked at",
              "Send it again with a later deadline, or none."),
    ErrorCode("wrong_key",           _X, True,  True,  False, True,
              "the record's key is not the content hash of its request",
              "Key the record by the content hash; docs/content-hash.md has vectors."),
    ErrorCode("missing_key",         _X, True,  True,  False, True,
              "the record has no key",
              "Key the record by the content hash; docs/content-hash.md has vectors."),
    ErrorCode("wrong_partition",     _X, True,  True,  False, False,
              "the record was routed to its key's partition once and came to another again",
              "Give the topic the partition count that the workers were started with."),
    ErrorCode("request_too_large",   _X, True,  True,  False, False,
              "the record's value is larger than a request may be",
              "Send at most 1 MiB; no QR Code holds more than 7,089 characters."),
    ErrorCode("undecodable",         _X, False, True,  False, False,
              "the record's value is no RenderRequested (on the intake: no RenderSubmitted) in a form that we read",
              "Publish Avro in single-object encoding or the registry's wire format; the intake takes JSON too."),
    ErrorCode("unknown_member",      _P, True,  False, False, False,
              "a JSON submission has a member that no request has",
              "Correct the member that the message names, or leave it out."),
    ErrorCode("idempotency_conflict", _P, True,  False, False, False,
              "the idempotency key was used before for another payload, whose outcome stands",
              "Send a new intent under a new key, or the first payload under this one."),
    ErrorCode("retry_lost",          _P, True,  False, False, True,
              "a parked request did not come back in time",
              "Send it again; if it happens more than once, look at the delay forwarder."),
    ErrorCode("store_unavailable",   _T, True,  True,  True,  True,
              "the artifact store did not take or give the artifact",
              "Nothing at first: it is tried again. Then repair the store and replay the letters."),
    ErrorCode("artifact_conflict",   _X, True,  True,  False, True,
              "the artifact store has other bytes under this content hash, and they are sound",
              "Keep both and report it: one profile made two artifacts; the stored one was left as it is."),
    ErrorCode("render_timeout",      _T, True,  True,  True,  True,
              "the render took longer than its bound",
              "Nothing at first: it is tried again. Then look at the worker's load."),
)
# fmt: on

TABLE: Mapping[str, ErrorCode] = MappingProxyType({row.code: row for row in _ROWS})


class RenderError(Exception):
    """A request failed with `code`; `message` is one clear line with what to do.

    Raises KeyError when the code is not declared in TABLE: an undeclared way to
    fail is a mistake of ours, and a test meets each code.
    """

    codes: ClassVar[frozenset[str]] = frozenset(TABLE)

    def __init__(self, code: str, message: str | None = None) -> None:
        """Take the row's meaning and advice as message when none is given."""
        self.row = TABLE[code]
        self.code = code
        self.message = message or f"{self.row.meaning}. {self.row.what_to_do}"
        super().__init__(code, self.message)

    def __str__(self) -> str:
        """`code: message`, for the command line and logs."""
        return f"{self.code}: {self.message}"

    @property
    def error_class(self) -> ErrorClass:
        """The row's class."""
        return self.row.error_class


class RequestRefused(RenderError):
    """The request has no canonical form, or cannot be read at all."""

    codes = frozenset(
        {"content_empty", "invalid_content", "invalid_payload", "invalid_option", "invalid_request", "undecodable", "unknown_member"}
    )


class RenderRefused(RenderError):
    """The request has a canonical form, and no artifact can be made of it."""

    codes = frozenset(
        {
            "content_too_long",
            "unscannable",
            "format_unavailable",
            "size_too_small",
            "size_too_large",
            "output_too_large",
            "verification_failed",
            "render_failed",
            "renderer_crash",
            "render_timeout",
            "store_unavailable",
            "artifact_conflict",
        }
    )


class StreamRefused(RenderError):
    """The record's key, place, length or time is wrong, whatever it asks for."""

    codes = frozenset(
        {
            "wrong_key",
            "missing_key",
            "wrong_partition",
            "request_too_large",
            "deadline_exceeded",
            "retry_lost",
            "idempotency_conflict",
        }
    )


def error_of(code: str, message: str | None = None) -> RenderError:
    """Rebuild the error of a stored code (a result row's), in its place of the tree.

    Raises KeyError for a code that TABLE does not have.
    """
    for branch in (RequestRefused, RenderRefused, StreamRefused):
        if code in branch.codes:
            return branch(code, message)
    return RenderError(code, message)


def shown(value: object, limit: int = 40) -> str:
    """Quote a user's value for a message: ASCII only, cut at `limit` characters.

    Messages travel in Avro strings and logs, which cannot hold an unpaired surrogate.
    """
    text = ascii(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def markdown() -> str:
    """Return the table as docs/errors.md has it."""
    yes_no = {True: "yes", False: "no"}
    lines = [
        "| code | class | failed event | dead letter | negative cache | content hash | meaning | what to do |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{row.code}` | {row.error_class} | {yes_no[row.failed_event]} | {yes_no[row.dead_letter]} "
        f"| {yes_no[row.negative_cache]} | {'always' if row.has_canonical_form else 'may be null'} "
        f"| {row.meaning} | {row.what_to_do} |"
        for row in TABLE.values()
    ]
    return "\n".join(lines) + "\n"
