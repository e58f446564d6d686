"""Records in single-object encoding by plain fastavro and the .avsc files; nothing of `schemas` is imported."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import fastavro
from fastavro.schema import fingerprint, to_parsing_canonical_form

AVSC = Path(__file__).resolve().parents[2] / "schemas" / "avsc"
MARKER = b"\xc3\x01"


@cache
def _schema(name: str) -> Any:
    return fastavro.parse_schema(json.loads((AVSC / f"{name}.avsc").read_text()))


@cache
def _header(name: str) -> bytes:
    """Marker and fingerprint: CRC-64-AVRO of the parsing canonical form, little-endian (Avro 1.12, single object)."""
    return MARKER + bytes.fromhex(fingerprint(to_parsing_canonical_form(_schema(name)), "CRC-64-AVRO"))


def encode(name: str, fields: dict[str, Any]) -> bytes:
    """The bytes of one record of schema `name`."""
    out = io.BytesIO()
    out.write(_header(name))
    fastavro.schemaless_writer(out, _schema(name), fields)
    return out.getvalue()


def decode(name: str, raw: bytes) -> dict[str, Any]:
    """The fields of one record; fails on another schema, framing or left-over bytes."""
    header = _header(name)
    if not raw.startswith(header):
        raise ValueError(f"not a {name} in single-object encoding: {raw[:10].hex()}")
    source = io.BytesIO(raw[len(header):])
    fields = fastavro.schemaless_reader(source, _schema(name), None)
    if source.read():
        raise ValueError(f"bytes are left over after a {name}")
    assert isinstance(fields, dict)
    return fields
