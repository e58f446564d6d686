"""Bytes of a record and back."""

from __future__ import annotations

import io
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import fastavro

from schemas.definitions import current
from schemas.errors import EncodeError, UndecodableError
from schemas.events import Record, Verification

if TYPE_CHECKING:
    from schemas.registry import Registry

__all__ = ["Codec", "EncodeError", "Framing", "UndecodableError"]

T = TypeVar("T", bound=Record)
SINGLE_OBJECT_MARKER: Final = b"\xc3\x01"


class Framing(Enum):
    """How a record says which schema wrote it."""

    SINGLE_OBJECT = "single-object"
    CONFLUENT = "confluent"


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {k: _plain(v) for k, v in node.items() if k != "logicalType"}
    return [_plain(v) for v in node] if isinstance(node, list) else node


@cache
def _parsed(view: type[Record]) -> Any:
    return fastavro.parse_schema(_plain(current(view).tree))


def _tree(record: Any) -> Any:
    return {
        name: _tree(value) if isinstance(value := getattr(record, name), Verification) else value
        for name in record.__slots__
    }


class Codec:
    """Encodes and decodes records; safe to share between threads."""

    def __init__(self, framing: Framing = Framing.SINGLE_OBJECT, registry: Registry | None = None) -> None:
        self._framing = framing
        self._registry = registry

    def encode(self, event: Record) -> bytes:
        """Framed bytes of a record. Raises EncodeError."""
        out = io.BytesIO()
        out.write(SINGLE_OBJECT_MARKER + current(type(event)).fingerprint)
        try:
            fastavro.schemaless_writer(out, _parsed(type(event)), _tree(event))
        except (ValueError, TypeError) as error:
            raise EncodeError(str(error)) from error
        return out.getvalue()

    def decode(self, raw: bytes, view: type[T]) -> T:
        """The record that the bytes hold. Raises UndecodableError."""
        if raw[:10] != SINGLE_OBJECT_MARKER + current(view).fingerprint:
            raise UndecodableError("unknown framing or schema")
        source = io.BytesIO(raw)
        source.seek(10)
        try:
            fields: Any = fastavro.schemaless_reader(source, _parsed(view), None)
        except (ValueError, EOFError, IndexError) as error:
            raise UndecodableError(str(error)) from error
        if source.tell() != len(raw):
            raise UndecodableError("trailing bytes")
        if fields.get("verification") is not None:
            fields["verification"] = Verification(**fields["verification"])
        return view(**fields)
