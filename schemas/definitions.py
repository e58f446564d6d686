"""The .avsc files of this package: those in force, and every version that was ever released.

Avro specification 1.12: parsing canonical form, CRC-64-AVRO fingerprints, logical types.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from fastavro.schema import fingerprint, to_parsing_canonical_form

from schemas.events import RECORD_TYPES, Record, RenderRequested

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Tree = dict[str, Any]
"""A record's schema as parsed JSON."""
AvroType = Any
"""Any schema as parsed JSON: a name, a list for a union, or an object."""
NAMESPACE: Final = "qr.render.v1"


@dataclass(frozen=True, slots=True)
class Definition:
    """One schema: its record name without namespace, its JSON text and tree, its fingerprint.

    ``fingerprint`` is the CRC-64-AVRO of the parsing canonical form as 8 little-endian bytes, the form that
    single-object encoding puts in front of a record.
    """

    name: str
    text: str
    tree: Tree
    fingerprint: bytes

    @property
    def full_name(self) -> str:
        """Record name with namespace."""
        return f"{self.tree['namespace']}.{self.name}"


def _read(file: Traversable) -> Definition:
    text = file.read_text(encoding="utf-8")
    tree = json.loads(text)
    return Definition(tree["name"], text, tree, fingerprint_of(tree))


def fingerprint_of(tree: AvroType) -> bytes:
    """CRC-64-AVRO of the parsing canonical form of a schema, as 8 little-endian bytes."""
    return bytes.fromhex(fingerprint(to_parsing_canonical_form(tree), "CRC-64-AVRO"))


_CURRENT: Final = {view: _read(resources.files("schemas") / "avsc" / f"{view.__name__}.avsc") for view in RECORD_TYPES}


def current(view: type[Record]) -> Definition:
    """The schema in force of a typed view."""
    return _CURRENT[view]


@cache
def released() -> tuple[tuple[str, Definition], ...]:
    """Every released schema with its release's name, oldest release first."""
    releases = [entry for entry in (resources.files("schemas") / "released").iterdir() if entry.is_dir()]
    return tuple(
        (release.name, _read(file))
        for release in sorted(releases, key=lambda entry: int(entry.name.removeprefix("v")))
        for file in sorted(release.iterdir(), key=lambda entry: entry.name)
        if file.name.endswith(".avsc")
    )


@cache
def output_affecting() -> frozenset[str]:
    """Names of the fields of RenderRequested that change the artifact, and so belong to the content hash."""
    return frozenset(field["name"] for field in current(RenderRequested).tree["fields"] if field["output_affecting"])


def view_of(name: str) -> type[Record] | None:
    """The typed view of a record name without namespace."""
    return next((view for view in RECORD_TYPES if view.__name__ == name), None)
