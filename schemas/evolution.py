"""Whether a reader's schema can read what a writer's schema wrote.

Avro specification 1.12, schema resolution. A union of the writer must be readable in all its branches, which is
what Confluent's registry calls BACKWARD, and not only in the branch that a given record happens to use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from schemas.definitions import AvroType

_PRIMITIVES: Final = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
_PROMOTIONS: Final = {
    "int": frozenset(("long", "float", "double")),
    "long": frozenset(("float", "double")),
    "float": frozenset(("double",)),
    "string": frozenset(("bytes",)),
    "bytes": frozenset(("string",)),
}


def obstacles(reader: AvroType, writer: AvroType) -> list[str]:
    """What keeps ``reader`` from reading data of ``writer`` (schemas as parsed JSON); empty when nothing does."""
    return _Comparison(_named(reader, "", {}), _named(writer, "", {})).compare(reader, writer, "record")


def _named(node: AvroType, namespace: str, found: dict[str, Any]) -> dict[str, Any]:
    """Named types by full name and by name alone; references in one schema use either."""
    if isinstance(node, list):
        for branch in node:
            _named(branch, namespace, found)
    elif isinstance(node, dict):
        if "name" in node and node.get("type") in ("record", "enum", "fixed", "error"):
            namespace = node.get("namespace", namespace)
            short = _short(node["name"])
            found[short] = node
            found[f"{namespace}.{short}"] = node
        for key in ("items", "values", "type"):
            if not isinstance(node.get(key), str):
                _named(node.get(key), namespace, found)
        for field in node.get("fields", ()):
            _named(field["type"], namespace, found)
    return found


def _short(name: str) -> str:
    return name.rpartition(".")[2]


class _Comparison:
    def __init__(self, readers: dict[str, Any], writers: dict[str, Any]) -> None:
        self._readers = readers
        self._writers = writers
        self._open: set[tuple[int, int]] = set()

    def compare(self, reader: AvroType, writer: AvroType, path: str) -> list[str]:
        reader, writer = _resolved(reader, self._readers), _resolved(writer, self._writers)
        if isinstance(writer, list):
            return [problem for branch in writer for problem in self.compare(reader, branch, path)]
        if isinstance(reader, list):
            if any(not self.compare(branch, writer, path) for branch in reader):
                return []
            return [f"{path}: no branch of the reader's union reads {_kind(writer)}"]
        read, written = _kind(reader), _kind(writer)
        if (read == written and read in _PRIMITIVES) or read in _PROMOTIONS.get(written, ()):
            return []
        if read != written:
            return [f"{path}: {written} cannot be read as {read}"]
        return self._complex(reader, writer, path)

    def _complex(self, reader: AvroType, writer: AvroType, path: str) -> list[str]:
        kind = _kind(reader)
        if kind == "array":
            return self.compare(reader["items"], writer["items"], f"{path}[]")
        if kind == "map":
            return self.compare(reader["values"], writer["values"], f"{path}{{}}")
        aliases = {_short(alias) for alias in reader.get("aliases", ())}
        if _short(writer["name"]) not in aliases | {_short(reader["name"])}:
            return [f"{path}: {writer['name']} is not {reader['name']}"]
        if kind == "fixed":
            return [] if reader["size"] == writer["size"] else [f"{path}: size {writer['size']} is not {reader['size']}"]
        if kind == "enum":
            unknown = set(writer["symbols"]) - set(reader["symbols"])
            return [f"{path}: symbol {symbol} is unknown" for symbol in sorted(unknown)] if "default" not in reader else []
        return self._fields(reader, writer, path)

    def _fields(self, reader: AvroType, writer: AvroType, path: str) -> list[str]:
        pair = (id(reader), id(writer))
        if pair in self._open:  # a record that holds itself: this pair is being compared further up
            return []
        self._open.add(pair)
        written = {field["name"]: field for field in writer["fields"]}
        problems: list[str] = []
        for field in reader["fields"]:
            here = f"{path}.{field['name']}"
            names = (field["name"], *field.get("aliases", ()))
            source = next((written[name] for name in names if name in written), None)
            if source is not None:
                problems += self.compare(field["type"], source["type"], here)
            elif "default" not in field:
                problems.append(f"{here}: the writer has no such field, and it has no default")
        self._open.discard(pair)
        return problems


def _resolved(node: AvroType, named: dict[str, Any]) -> AvroType:
    """The definition that a name stands for."""
    if isinstance(node, dict) and isinstance(node.get("type"), (dict, list)):
        return _resolved(node["type"], named)
    if isinstance(node, str) and node not in _PRIMITIVES:
        return named[node]
    return node


def _kind(node: AvroType) -> str:
    return str(node["type"]) if isinstance(node, dict) else str(node)
