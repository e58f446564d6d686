"""A telephone number to call (RFC 3966)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from processors.content_types.declaration import Declaration, check
from processors.content_types.telephone import subscriber


@dataclass(frozen=True, slots=True, kw_only=True)
class Tel:
    """A `tel:` URI."""

    DECLARED: ClassVar = Declaration(
        name="tel",
        summary="a telephone number to call",
        standard="RFC 3966 section 3",
        example={"number": "+1-201-555-0123"},
        notes=("The separators `-`, `.`, `(` and `)` are kept and mean nothing; blanks are not allowed.",),
    )

    number: Annotated[str, "global with + and country code; or local, with `context`"]
    context: Annotated[str | None, "where a local number is valid: a domain, or the beginning of a global number"] = None
    extension: Annotated[str | None, "digits to dial behind the number"] = None

    def content(self) -> str:
        """`tel:+1-201-555-0123`. Raises RequestRefused (invalid_payload)."""
        check(self)
        return "tel:" + subscriber(self, "number", self.number, self.context, self.extension)
