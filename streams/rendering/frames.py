"""What the worker and the process that renders say to each other: frames of a JSON header and raw bytes.

A frame is two big-endian uint32 (length of the header, length of the payload), the header in UTF-8, the payload
(a content or an artifact, as it is). JSON and not pickle: a record that kills the child may as well have corrupted
it, and what such a process sends must be read as data and never run. It costs some 20 µs a render where the render
takes milliseconds. Python's JSON gives back the same int, float and str (repr round trip), so a Rendered that crossed
equals one that did not; the one array among its facts is made a tuple again.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass, fields
from struct import Struct
from typing import Any, Final

from processors.errors import TABLE, RenderError, error_of
from processors.render import Rendered
from processors.spec import RenderSpec
from schemas.events import Verification

_LENGTHS: Final = Struct(">II")
MOST_HEADER: Final = 1 << 20
MOST_PAYLOAD: Final = 64 << 20
"""Far above a request (1 MiB) and an artifact (256 KiB): what is longer was not written by our code."""
_SPEC_FIELDS: Final = tuple(field.name for field in fields(RenderSpec) if field.name != "content")
_RENDERED_FIELDS: Final = tuple(field.name for field in fields(Rendered) if field.name not in {"artifact", "verification"})
_VERIFICATION_FIELDS: Final = tuple(field.name for field in fields(Verification))
_TRACEBACK_CHARACTERS: Final = 16_384


class FrameCorrupt(Exception):
    """The other side sent what it would never write: it is not to be trusted any more."""


class CauseInChild(Exception):
    """What the renderer raised, with its traceback there, as text; the `__cause__` of a render_failed."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message. header: JSON members. payload: raw bytes."""

    header: dict[str, Any]
    payload: bytes = b""

    def encoded(self) -> bytes:
        """The bytes on the wire."""
        header = json.dumps(self.header, separators=(",", ":")).encode()
        return _LENGTHS.pack(len(header), len(self.payload)) + header + self.payload


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, received: bytes) -> None:
        """Take what has arrived."""
        self._received += received

    def next(self) -> Frame | None:
        """The next whole frame, if it is there. Raises FrameCorrupt."""
        if len(self._received) < _LENGTHS.size:
            return None
        header_length, payload_length = _LENGTHS.unpack_from(self._received)
        if header_length > MOST_HEADER or payload_length > MOST_PAYLOAD:
            raise FrameCorrupt(f"a frame of {header_length:,} and {payload_length:,} bytes")
        payload_start = _LENGTHS.size + header_length
        end = payload_start + payload_length
        if len(self._received) < end:
            return None
        try:
            header = json.loads(self._received[_LENGTHS.size:payload_start])
        except ValueError as exc:
            raise FrameCorrupt(f"a header that is no JSON: {exc}") from None
        if not isinstance(header, dict):
            raise FrameCorrupt("a header that is no JSON object")
        frame = Frame(header, bytes(self._received[payload_start:end]))
        del self._received[:end]
        return frame


def read_frame(stream: socket.socket, reader: FrameReader) -> Frame | None:
    """The next frame of a blocking socket, None at its end. Raises FrameCorrupt."""
    while (frame := reader.next()) is None:
        received = stream.recv(1 << 16)
        if not received:
            return None
        reader.feed(received)
    return frame


def spec_frame(number: int, spec: RenderSpec, attempt: int) -> Frame:
    """Ask for a render. number: comes back with the answer. attempt: 1 for the first time."""
    return Frame({"number": number, "attempt": attempt, "spec": [getattr(spec, name) for name in _SPEC_FIELDS]}, spec.content)


def spec_of(frame: Frame) -> RenderSpec:
    """The spec that a frame asks for."""
    return RenderSpec(content=frame.payload, **dict(zip(_SPEC_FIELDS, frame.header["spec"], strict=True)))


def rendered_frame(number: int, rendered: Rendered) -> Frame:
    """Answer with an artifact."""
    facts = [getattr(rendered, name) for name in _RENDERED_FIELDS]
    verification = [getattr(rendered.verification, name) for name in _VERIFICATION_FIELDS]
    return Frame({"number": number, "rendered": facts, "verification": verification}, rendered.artifact)


def error_frame(number: int, error: RenderError, cause: str | None) -> Frame:
    """Answer with an error. cause: traceback of what the renderer does not know, for the worker's log."""
    # Its end names the error; an endless recursion's would be longer than a header may be.
    told = None if cause is None else cause[-_TRACEBACK_CHARACTERS:]
    return Frame({"number": number, "code": error.code, "message": error.message, "cause": told})


def answer_of(frame: Frame, number: int) -> Rendered | RenderError:
    """The artifact or error that answers `number`. Raises FrameCorrupt for anything else."""
    header = frame.header
    try:
        if header["number"] != number:
            raise FrameCorrupt(f"an answer to {header['number']!r} instead of {number}")
        if "code" in header:
            return _error(header["code"], header["message"], header["cause"])
        verification = Verification.from_members(dict(zip(_VERIFICATION_FIELDS, header["verification"], strict=True)))
        facts = dict(zip(_RENDERED_FIELDS, header["rendered"], strict=True))
        return Rendered(artifact=frame.payload, verification=verification, **facts)
    except (KeyError, TypeError, ValueError) as exc:
        raise FrameCorrupt(f"an answer that lacks something: {exc!r}") from None


def _error(code: str, message: str, cause: str | None) -> RenderError:
    if code not in TABLE:
        raise FrameCorrupt(f"an undeclared error {code!r}")
    error = error_of(code, message)
    if cause is not None:
        error.__cause__ = CauseInChild(cause)
    return error
