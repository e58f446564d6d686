"""A short message to send (RFC 5724)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final
from urllib.parse import quote

from processors.content_types.checks import check_choice
from processors.content_types.declaration import Declaration, check, refused
from processors.content_types.telephone import subscriber

_DIALLED: Final = re.compile(r"\+?[*#\-.()]*[0-9][0-9*#\-.()]*")
FORMS: Final = ("sms", "smsto")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sms:
    """An `sms:` URI; or `SMSTO:`, which no standard defines and many readers know."""

    DECLARED: ClassVar = Declaration(
        name="sms",
        summary="a short message, ready to send",
        standard="RFC 5724 section 2.2, with the numbers of RFC 3966; form smsto: ZXing, Barcode Contents, SMS",
        example={"numbers": ["+15105550101"], "body": "hello there"},
        notes=(
            ("`sms:` is the standard and the default. `SMSTO:` has no standard, no escapes and one recipient; choose it with "
            "`form` for readers that open nothing else, and for short codes without a context."),
        ),
    )

    numbers: Annotated[tuple[str, ...], "recipients, as the numbers of tel"]
    body: Annotated[str | None, "what the message says"] = None
    context: Annotated[str | None, "where local numbers are valid, as in tel"] = None
    form: Annotated[str, "sms or smsto"] = "sms"

    def content(self) -> str:
        """`sms:+15105550101?body=hello%20there`. Raises RequestRefused (invalid_payload)."""
        check(self)
        check_choice(self, "form", self.form, FORMS)
        if not self.numbers:
            raise refused(self, "numbers", "is empty; name at least one recipient (RFC 5724 section 2.2)")
        return self._smsto() if self.form == "smsto" else self._sms()

    def _sms(self) -> str:
        if self.context is not None and all(number.startswith("+") for number in self.numbers):
            raise refused(self, "context", "is for a local number (RFC 3966 section 5.1.5); leave it out")
        recipients = ",".join(
            subscriber(self, f"numbers {place}", number, None if number.startswith("+") else self.context)
            for place, number in enumerate(self.numbers, 1)
        )
        # Section 2.2: sms-field-value holds unreserved characters and percent-encoded UTF-8 only.
        return f"sms:{recipients}" + ("" if self.body is None else f"?body={quote(self.body, safe='')}")

    def _smsto(self) -> str:
        if len(self.numbers) > 1:
            raise refused(self, "numbers", "has several recipients; SMSTO takes one, form sms takes more")
        if self.context is not None:
            raise refused(self, "context", "cannot be said in SMSTO; leave it out, or use form sms")
        # Without a colon, so that the first one ends the number.
        if not _DIALLED.fullmatch(self.numbers[0]):
            raise refused(self, "numbers 1", "must be digits, with - . ( ) between them and no blanks")
        return f"SMSTO:{self.numbers[0]}" + ("" if self.body is None else f":{self.body}")
