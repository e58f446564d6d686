"""Reading what another version of a schema wrote (Avro specification 1.12, schema resolution), over fastavro."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

import fastavro
from fastavro.schema import SchemaParseException

from schemas.compiled import VIEWS
from schemas.definitions import AvroType, Tree, fingerprint_of
from schemas.errors import UndecodableError
from schemas.evolution import obstacles
from schemas.varint import INT_MAX, INT_MIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.events import Record


AvroValue = Any
"""A value as fastavro gives it."""


def plain(node: AvroType) -> AvroType:
    """A schema without its logical types, so that an instant is read as the number that it is stored as."""
    if isinstance(node, dict):
        return {name: plain(value) for name, value in node.items() if name != "logicalType"}
    return [plain(value) for value in node] if isinstance(node, list) else node


def checked_fingerprint(writer: AvroType, reader: Tree, schema_id: int) -> bytes:
    """Fingerprint of a registry's schema. Raises UndecodableError if it is no schema, or ours cannot read it."""
    try:
        fastavro.parse_schema(plain(writer))
        problems = obstacles(reader, writer)
        if not problems:
            return fingerprint_of(writer)
    except (SchemaParseException, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UndecodableError(f"schema {schema_id} of the registry is no Avro schema: {error}") from error
    raise UndecodableError(f"schema {schema_id} of the registry cannot be read: {'; '.join(problems)}")


def decoder(view: type[Record], reader: Tree, writer: AvroType) -> Callable[[bytes, int], Any]:
    """A function of bytes and offset that gives the record, as ``compiled.decoder`` makes for the schema in force.

    The two schemas must resolve (``evolution.obstacles``). fastavro is given the writer's schema alone: resolving a
    union itself, it takes the reader's first branch that a value can be promoted to, so that bytes written under
    [string, bytes] come back as text, or as an error where they are no UTF-8.
    """
    written = fastavro.parse_schema(plain(writer))

    def decode(raw: bytes, at: int) -> object:
        source = io.BytesIO(raw)
        source.seek(at)
        try:
            record = _shaped(fastavro.schemaless_reader(source, written, None), reader, view)
        except (MemoryError, UndecodableError):
            raise
        except Exception as error:  # what fastavro raises for malformed bytes is not specified
            raise UndecodableError(f"not the record that its schema describes: {error!r}") from error
        if source.tell() != len(raw):
            raise UndecodableError(f"{len(raw) - source.tell()} bytes after the record")
        return record

    return decode


def _shaped(value: AvroValue, kind: AvroType, view: type | None = None) -> AvroValue:
    """A value of the writer's as the reader's type holds it; a field that the writer had not takes its default."""
    if isinstance(kind, list):
        return _shaped(value, _branch(value, kind))
    if isinstance(kind, dict) and kind["type"] in ("record", "array"):
        return _shaped_complex(value, kind, view)
    if kind == "int" and not INT_MIN <= value <= INT_MAX:
        raise UndecodableError(f"{value} does not fit 32 bits")
    if kind == "double":
        return float(value)
    if kind == "string" and isinstance(value, bytes):
        return value.decode()
    if kind == "bytes" and isinstance(value, str):
        return value.encode()
    return value


def _shaped_complex(value: AvroValue, kind: Tree, view: type | None) -> AvroValue:
    if kind["type"] == "record":
        known = {}
        for field in kind["fields"]:
            names = (field["name"], *field.get("aliases", ()))
            if (written := next((name for name in names if name in value), None)) is not None:
                known[field["name"]] = _shaped(value[written], field["type"])
        return (view or VIEWS[kind["name"]])(**known)
    return tuple(_shaped(item, kind["items"]) for item in value)


_SAME: Final[dict[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "double": (float,),
    "string": (str,),
    "bytes": (bytes,),
    "record": (dict,),
}
_PROMOTED: Final[dict[str, tuple[type, ...]]] = {"double": (int,), "string": (bytes,), "bytes": (str,)}


def _branch(value: AvroValue, kinds: list[AvroType]) -> AvroType:
    """The branch of the value's own type, else the first that it can be promoted to."""
    for types in (_SAME, _PROMOTED):
        for kind in kinds:
            name = kind["type"] if isinstance(kind, dict) else kind
            if isinstance(value, types.get(name, ())):
                return kind
    raise UndecodableError(f"no branch of the union holds a {type(value).__name__}")
