"""What a content type says about itself: one declaration for its reader, its checks, its page and its `--help`.

A type is a frozen dataclass with one `Annotated[<Python type>, "<doc>"]` field a member, and a `DECLARED`. Its method
`content()` begins with `check(self)`, then refuses what its standard refuses, then writes the one exact text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Protocol, TypeAlias, get_args, get_origin, get_type_hints

from processors.errors import RequestRefused
from processors.json_kinds import kind_of

MOST_CHARACTERS: Final = 7_089
"""What any symbol holds (ISO/IEC 18004:2015 table 7: digits in 40-L). Every text given is in what is written, escaped or
not; checked first, so that a record of a mebibyte costs its owner no more than looking at its length."""

Objects: TypeAlias = Mapping[str, str | Mapping[str, str]]
"""Data objects by their id; one that is a template holds data objects itself."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """name: of the type. summary: one line. standard: title and clause. example: a payload without its type.

    notes: what a reader has to know beyond the fields; one sentence or two each.
    """

    name: str
    summary: str
    standard: str
    example: Mapping[str, Any]
    notes: tuple[str, ...] = ()


class ContentType(Protocol):
    """Typed fields that have one exact text (or bytes) by a standard."""

    DECLARED: ClassVar[Declaration]
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def content(self) -> str | bytes:
        """What the symbol says. Raises RequestRefused (invalid_payload) naming the field."""
        ...


class Kind(Enum):
    """What a field takes, as messages and the page say it."""

    TEXT = "a string"
    TEXTS = "an array of strings"
    FLAG = "true or false"
    DECIMAL = "a number, or a string of its digits"
    OBJECTS = "an object of strings, or of objects of strings"


_KINDS: Final[Mapping[Any, Kind]] = {
    str: Kind.TEXT,
    str | None: Kind.TEXT,
    tuple[str, ...]: Kind.TEXTS,
    bool: Kind.FLAG,
    str | float: Kind.DECIMAL,
    str | float | None: Kind.DECIMAL,
    Objects: Kind.OBJECTS,
    Objects | None: Kind.OBJECTS,
}


@dataclass(frozen=True, slots=True)
class Field:
    """One member of a payload. nullable: null, or None, is the same as leaving it out."""

    name: str
    kind: Kind
    required: bool
    nullable: bool
    doc: str


@cache
def fields_of(declared: type[ContentType]) -> tuple[Field, ...]:
    """The fields of a type, in their order. Raises KeyError for a Python type that no kind has: a mistake of ours."""
    hints = get_type_hints(declared, include_extras=True)
    found = []
    for field in dataclasses.fields(declared):
        hint = hints[field.name]
        assert get_origin(hint) is Annotated, f"{declared.__name__}.{field.name} has no doc"
        base, doc = get_args(hint)
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        found.append(Field(field.name, _KINDS[base], required, field.default is None, doc))
    return tuple(found)


def refused(declared: ContentType | type[ContentType], field: str, what: str) -> RequestRefused:
    """One line about one field: what is wrong, and what to write instead. Never its value: that is content."""
    return RequestRefused("invalid_payload", f"payload {declared.DECLARED.name}, {field}: {what}")


def check(given: ContentType) -> None:
    """Check the fields' Python types, and that UTF-8 can hold every text, none is empty and a symbol could hold all.

    Raises RequestRefused (invalid_payload). An empty text is refused rather than taken for one that was left out: it is
    mostly a variable that was not filled in.
    """
    characters = 0
    for field in fields_of(type(given)):
        value = getattr(given, field.name)
        if value is None and field.nullable:
            continue
        if not _is_of(field.kind, value):
            found = "" if isinstance(value, tuple | Mapping) else f", not {kind_of(value)}"
            raise refused(given, field.name, f"must be {field.kind.value}{found}")
        for place, text in _texts(field.name, value):
            characters += len(text)
            if characters > MOST_CHARACTERS:
                raise refused(given, place, f"and what is before it have {characters:,} characters or more; no symbol holds more than {MOST_CHARACTERS:,}; shorten it")
            _check_text(given, place, text)


def _is_of(kind: Kind, value: object) -> bool:
    match kind:
        case Kind.TEXT:
            return isinstance(value, str)
        case Kind.FLAG:
            return isinstance(value, bool)
        case Kind.DECIMAL:
            return isinstance(value, str | int | float) and not isinstance(value, bool)
        case Kind.TEXTS:
            return isinstance(value, tuple) and all(isinstance(text, str) for text in value)
        case Kind.OBJECTS:
            return isinstance(value, Mapping) and all(
                isinstance(key, str) and (isinstance(inner, str) or _is_template(inner)) for key, inner in value.items()
            )


def _is_template(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) and isinstance(text, str) for key, text in value.items())


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Each text in a value, with the name of its place. The keys of objects are checked by their type: they are ids."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, tuple):
        for number, text in enumerate(value, 1):
            yield from _texts(f"{name} {number}", text)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(f"{name} {ascii(key)[1:-1][:8]}", inner)


def _check_text(given: ContentType, place: str, text: str) -> None:
    if not text:
        raise refused(given, place, "is empty; leave it out, or write what belongs there")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise refused(given, place, f"has an unpaired surrogate at character {error.start + 1}; repair the text") from error
