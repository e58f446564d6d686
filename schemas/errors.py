"""Errors of this package.

SchemaError
├── UndecodableError      these bytes are no record of ours, and never will be
├── EncodeError           this record has no Avro form
└── RegistryError         the schema registry
    ├── RegistryUnavailableError   no answer: the same call may work later
    └── UnknownSchemaError         it answered that it has no such schema, or refused ours
"""

from __future__ import annotations


class SchemaError(Exception):
    """Base of all errors of this package."""


class UndecodableError(SchemaError):
    """The bytes are not exactly one record of the expected type."""

    code = "undecodable"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EncodeError(SchemaError):
    """The record has a value that Avro cannot hold, such as an unpaired surrogate."""

    code = "unencodable"

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field


class RegistryError(SchemaError):
    """The schema registry did not do what was asked."""


class RegistryUnavailableError(RegistryError):
    """The schema registry gave no usable answer; the same call may work later."""


class UnknownSchemaError(RegistryError):
    """The schema registry has no such schema, or refused the one it was given."""
