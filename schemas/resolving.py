"""Reading what another version of a schema wrote (Avro specification 1.12, schema resolution), by fastavro."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

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
    """A function of bytes and offset that gives the record, as ``compiled.decoder`` makes for the schema in force."""
    written, wanted = fastavro.parse_schema(plain(writer)), fastavro.parse_schema(plain(reader))

    def decode(raw: bytes, at: int) -> object:
        source = io.BytesIO(raw)
        source.seek(at)
        try:
            record = _shaped(fastavro.schemaless_reader(source, written, wanted), reader, view)
        except (MemoryError, UndecodableError):
            raise
        except Exception as error:  # what fastavro raises for malformed bytes is not specified
            raise UndecodableError(f"not the record that its schema describes: {error!r}") from error
        if source.tell() != len(raw):
            raise UndecodableError(f"{len(raw) - source.tell()} bytes after the record")
        return record

    return decode


def _shaped(value: AvroValue, kind: AvroType, view: type | None) -> AvroValue:
    """A value of fastavro's as the typed view holds it: promotion leaves an int where a double is declared."""
    if isinstance(kind, list):
        return next(_shaped(value, branch, None) for branch in kind if _belongs(value, branch))
    if not isinstance(kind, dict):
        if kind == "int" and not INT_MIN <= value <= INT_MAX:
            raise UndecodableError(f"{value} does not fit 32 bits")
        return float(value) if kind == "double" else value
    if kind["type"] != "record":
        return value
    made = view or VIEWS[kind["name"]]
    return made(**{field["name"]: _shaped(value[field["name"]], field["type"], None) for field in kind["fields"]})


def _belongs(value: object, branch: AvroType) -> bool:
    if branch == "null":
        return value is None
    if branch == "string":
        return isinstance(value, str)
    if branch == "bytes":
        return isinstance(value, bytes)
    return value is not None
