"""Bytes that are no text."""

from __future__ import annotations

import binascii
from base64 import b64decode
from dataclasses import dataclass
from typing import Annotated, ClassVar

from processors.content_types.declaration import Declaration, check, refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """Any bytes, in padded base64 (RFC 4648 section 4)."""

    DECLARED: ClassVar = Declaration(
        name="bytes",
        summary="any bytes, given as base64",
        standard="RFC 4648 section 4: the standard alphabet, padded",
        example={"base64": "AP+A"},
        notes=("The same as the member `content_base64`. Many readers show bytes as text of a character set that they guess.",),
    )

    base64: Annotated[str, "the bytes"]

    def content(self) -> bytes:
        """The bytes. Raises RequestRefused (invalid_payload)."""
        check(self)
        try:
            return b64decode(self.base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise refused(self, "base64", "is not padded base64 of RFC 4648 section 4; encode the bytes anew") from error
