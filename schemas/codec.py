"""Bytes of a record and back.

    single-object   C3 01, 8-byte little-endian CRC-64-AVRO fingerprint, Avro      (Avro specification 1.12)
    Confluent       00, 4-byte big-endian id in a schema registry, Avro            (Confluent wire format)

Which of the two a record has is seen from its first byte.
"""

from __future__ import annotations

import json
from enum import Enum
from struct import Struct
from struct import error as StructError  # noqa: N812 - `error` says nothing in an except clause
from typing import TYPE_CHECKING, Any, Final, TypeVar

from schemas import compiled, resolving
from schemas.definitions import NAMESPACE, AvroType, current, released, view_of
from schemas.errors import EncodeError, UndecodableError, UnknownSchemaError
from schemas.events import RECORD_TYPES, Record
from schemas.refusal import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.registry import Registry

__all__ = ["Codec", "EncodeError", "Framing", "UndecodableError"]

T = TypeVar("T", bound=Record)
_Reader = tuple[type[Any], "Callable[[bytes, int], Any]", int]

SINGLE_OBJECT_MARKER: Final = b"\xc3\x01"
CONFLUENT_MARKER: Final = b"\x00"
_SINGLE_OBJECT_BYTES: Final = 10
_CONFLUENT_BYTES: Final = 5
_ID: Final = Struct(">I")


class Framing(Enum):
    """How a record says which schema wrote it."""

    SINGLE_OBJECT = "single-object"
    CONFLUENT = "confluent"


_DECODERS: Final = {view: compiled.decoder(view, current(view).tree) for view in RECORD_TYPES}
_ENCODERS: Final = {view: compiled.encoder(current(view).tree) for view in RECORD_TYPES}


def _reader(view: type[Record], writer: AvroType, fingerprint: bytes) -> Callable[[bytes, int], Any]:
    """What reads records of a writer's schema: straight-line code if it is ours, else schema resolution."""
    own = current(view)
    return _DECODERS[view] if fingerprint == own.fingerprint else resolving.decoder(view, own.tree, writer)


def _known_readers() -> dict[bytes, _Reader]:
    """A reader for every schema that is in force or was released, by the bytes that its records begin with."""
    readers: dict[bytes, _Reader] = {}
    definitions = [current(view) for view in RECORD_TYPES] + [definition for _, definition in released()]
    for definition in definitions:
        view = view_of(definition.name)
        if view is not None and (prefix := SINGLE_OBJECT_MARKER + definition.fingerprint) not in readers:
            readers[prefix] = (view, _reader(view, definition.tree, definition.fingerprint), _SINGLE_OBJECT_BYTES)
    return readers


_KNOWN: Final = _known_readers()


class Codec:
    """Encodes and decodes records; safe to share between threads.

    ``framing`` is what it writes; it reads both. Confluent's framing needs a ``registry``, in which the subject of
    a record is its full name (RecordNameStrategy), since a record is the same in whichever topic it lies.
    """

    def __init__(self, framing: Framing = Framing.SINGLE_OBJECT, registry: Registry | None = None) -> None:
        if framing is Framing.CONFLUENT and registry is None:
            raise ValueError("Confluent framing needs a schema registry")
        self._framing = framing
        self._registry = registry
        self._readers = dict(_KNOWN)
        self._prefixes = (
            {view: SINGLE_OBJECT_MARKER + current(view).fingerprint for view in RECORD_TYPES}
            if framing is Framing.SINGLE_OBJECT
            else {}
        )

    def encode(self, event: Record) -> bytes:
        """A record as bytes with their framing.

        Raises EncodeError if a field has a value that Avro cannot hold; with Confluent's framing, RegistryError.
        """
        view = type(event)
        prefix = self._prefixes.get(view) or self._registered(view)
        try:
            return _ENCODERS[view](prefix, event)
        except (ValueError, TypeError, AttributeError, OverflowError, StructError) as error:
            raise refusal(event, current(view).tree) from error

    def framed(self, view: type[Record], *parts: bytes) -> bytes:
        """The framing of a record of the type ``view``, then its Avro bytes, which are given in parts.

        With Confluent's framing it raises RegistryError.
        """
        return b"".join((self._prefixes.get(view) or self._registered(view), *parts))

    def decode(self, raw: bytes | None, view: type[T]) -> T:
        """The record that the bytes are, all of them.

        Raises UndecodableError if they are not exactly one record of the type ``view``, written with its schema in
        force, a released one, or one of the registry that it can read. RegistryUnavailableError says that the
        registry could not be asked, and nothing about the bytes.
        """
        if not raw:
            raise UndecodableError("the record has no value")
        reader = self._readers.get(raw[:_SINGLE_OBJECT_BYTES]) or self._readers.get(raw[:_CONFLUENT_BYTES])
        held, read, at = reader or self._find(raw)
        if held is not view:
            raise UndecodableError(f"the record is a {held.__name__}, not a {view.__name__}")
        try:
            return read(raw, at)  # type: ignore[no-any-return] # `held is view`
        except (IndexError, StructError) as error:
            raise UndecodableError(f"cut short: {len(raw)} bytes are not the whole record") from error
        except UnicodeDecodeError as error:
            raise UndecodableError(f"a text is not UTF-8: {error.reason}") from error

    def _registered(self, view: type[Record]) -> bytes:
        if self._registry is None or view not in _ENCODERS:
            raise TypeError(f"{view.__name__} is no record of this stream")
        definition = current(view)
        schema_id = self._registry.register(definition.full_name, definition.text)
        self._prefixes[view] = CONFLUENT_MARKER + _ID.pack(schema_id)
        return self._prefixes[view]

    def _find(self, raw: bytes) -> _Reader:
        """The reader of a prefix that was not met before. Raises UndecodableError, RegistryError."""
        if raw[:2] == SINGLE_OBJECT_MARKER:
            if len(raw) < _SINGLE_OBJECT_BYTES:
                raise UndecodableError(f"cut short: {len(raw)} bytes are not the whole framing")
            raise UndecodableError(f"no schema with the fingerprint {raw[2:_SINGLE_OBJECT_BYTES].hex()} is known")
        if raw[:1] != CONFLUENT_MARKER:
            raise UndecodableError(f"neither framing begins with {raw[:2].hex()}")
        if self._registry is None:
            raise UndecodableError("Confluent framing, and no schema registry is set")
        if len(raw) < _CONFLUENT_BYTES:
            raise UndecodableError(f"cut short: {len(raw)} bytes are not the whole framing")
        (schema_id,) = _ID.unpack_from(raw, 1)
        try:
            text = self._registry.schema_text(schema_id)
        except UnknownSchemaError as error:
            raise UndecodableError(str(error)) from error
        view, read = self._foreign(schema_id, text)
        self._readers[raw[:_CONFLUENT_BYTES]] = reader = (view, read, _CONFLUENT_BYTES)
        return reader

    @staticmethod
    def _foreign(schema_id: int, text: str) -> tuple[type[Record], Callable[[bytes, int], Any]]:
        """Type and reader of a registry's schema, which may be anyone's."""
        try:
            tree = json.loads(text)
            name = str(tree["name"])
            full_name = name if "." in name or "namespace" not in tree else f"{tree['namespace']}.{name}"
        except (ValueError, TypeError, KeyError) as error:
            raise UndecodableError(f"schema {schema_id} of the registry is no Avro record") from error
        namespace, _, short = full_name.rpartition(".")
        view = view_of(short) if namespace == NAMESPACE else None
        if view is None:
            raise UndecodableError(f"schema {schema_id} of the registry is a {full_name}, which is no record of this stream")
        return view, _reader(view, tree, resolving.checked_fingerprint(tree, current(view).tree, schema_id))
