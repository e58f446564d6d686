"""Checks and spellings that several content types share."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from decimal import Decimal
from typing import Final

from processors.content_types.declaration import ContentType, refused

_DECIMAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def decimal_of(given: ContentType, field: str, value: str | float) -> str:
    """Digits with at most one point and no exponent: a string's own, a number's shortest. Raises RequestRefused."""
    if isinstance(value, str):
        if not _DECIMAL.fullmatch(value):
            raise refused(given, field, "is no decimal number; write digits with a point, such as 12.50")
        return value
    try:
        if not math.isfinite(value):
            raise refused(given, field, "is no finite number")
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    except (OverflowError, ValueError) as error:  # an int of more digits than a double holds, or Python writes
        raise refused(given, field, "has too many digits") from error


def check_line(given: ContentType, field: str, text: str) -> None:
    """Check that a text has no control character and no line break. Raises RequestRefused."""
    found = _CONTROLS.search(text)
    if found:
        raise refused(given, field, f"character {found.start() + 1} is {code_point(found[0])}, a control character; leave it out")


def check_length(given: ContentType, field: str, text: str, most: int, source: str) -> None:
    """Check the number of characters. Raises RequestRefused."""
    if len(text) > most:
        raise refused(given, field, f"has {len(text):,} characters; {source} takes at most {most}; shorten it")


def check_pattern(given: ContentType, field: str, text: str, pattern: re.Pattern[str], wanted: str) -> None:
    """Check the whole text; `wanted` says what it must be. Raises RequestRefused."""
    if not pattern.fullmatch(text):
        raise refused(given, field, f"must be {wanted}")


def check_choice(given: ContentType, field: str, value: str, choices: Collection[str]) -> None:
    """Check that a value is one of a few. Raises RequestRefused."""
    if value not in choices:
        raise refused(given, field, f"must be one of {', '.join(choices)}")


def code_point(character: str) -> str:
    """`U+0020`."""
    return f"U+{ord(character):04X}"


def has_check_digits(code: str) -> bool:
    """Whether the check digits of an IBAN or RF reference, its third and fourth character, are those of its other letters and digits.

    ISO/IEC 7064 MOD 97-10. 98 less a remainder is 02 to 98: 00, 01 and 99 are never made, though they leave the
    same remainder as 97, 98 and 02.
    """
    number = int("".join(str(int(character, 36)) for character in code[4:] + code[:2]) + "00")
    return code[2:4] == f"{98 - number % 97:02d}"
