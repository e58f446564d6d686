"""Which field of a record Avro cannot hold, and why: the slow path of an encoding that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from schemas.errors import EncodeError
from schemas.varint import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

if TYPE_CHECKING:
    from schemas.definitions import AvroType, Tree

Value = Any
"""What a field of a record was given, right or wrong."""

_HOLDS: Final[dict[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "string": (str,),
    "bytes": (bytes,),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "double": (int, float),
}
_RANGES: Final = {"int": (INT_MIN, INT_MAX), "long": (LONG_MIN, LONG_MAX)}


def refusal(record: object, tree: Tree) -> EncodeError:
    """The error that names the first field which cannot be encoded; the value itself is never quoted."""
    for field in tree["fields"]:
        name = field["name"]
        if (reason := _reason(getattr(record, name, None), field["type"])) is not None:
            return EncodeError(f"{tree['name']}.{name}: {reason}", name)
    return EncodeError(f"{tree['name']} cannot be encoded")


def _reason(value: Value, kind: AvroType) -> str | None:
    branches = kind if isinstance(kind, list) else [kind]
    names = [branch["type"] if isinstance(branch, dict) else branch for branch in branches]
    for name, branch in zip(names, branches, strict=True):
        if name == "record" and value is not None:
            return _nested(value, branch)
        if isinstance(value, _HOLDS.get(name, ())):
            return _content_reason(value, name)
    return f"{type(value).__name__} is not {' or '.join(names)}"


def _nested(value: object, tree: Tree) -> str | None:
    if type(value).__name__ != tree["name"]:
        return f"{type(value).__name__} is not {tree['name']}"
    return next((str(error) for error in [refusal(value, tree)] if error.field is not None), None)


def _content_reason(value: Value, name: str) -> str | None:
    if name == "string":
        try:
            value.encode()
        except UnicodeEncodeError as error:
            return f"the character at {error.start} is an unpaired surrogate, which UTF-8 cannot hold"
    if name in _RANGES and not _RANGES[name][0] <= value <= _RANGES[name][1]:
        return f"the number does not fit {32 if name == 'int' else 64} bits"
    if name == "double":
        try:
            float(value)
        except OverflowError:
            return "the number does not fit a double"
    return None
