"""Text, as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from processors.content_types.declaration import Declaration, check


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Any text; nothing is added, trimmed or normalised."""

    DECLARED: ClassVar = Declaration(
        name="text",
        summary="any text, as it is",
        standard="UTF-8 (RFC 3629)",
        example={"text": "Table 12"},
        notes=("The same as the member `content`.",),
    )

    text: Annotated[str, "what the symbol says"]

    def content(self) -> str:
        """The text. Raises RequestRefused (invalid_payload)."""
        check(self)
        return self.text
