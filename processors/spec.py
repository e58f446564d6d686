"""A request's output-affecting fields, checked and normalised.

What fails here has no canonical form: there is no content hash to speak of, and the
request is keyed by `canonical.invalid_key`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple

from processors.errors import RequestRefused, shown
from processors.images.formats import FORMATS
from processors.profile import PROFILES
from schemas.events import RenderRequested, RenderSubmitted

LEVELS: Final = ("l", "m", "q", "h")
DELIVERIES: Final = ("inline", "reference")

MAX_NAME_CHARACTERS: Final = 255
MIN_SCALE: Final = 0.01
MAX_NUMBER: Final = 1_000_000
"""Bounds of scale, size and margin: wide enough for any image, and far inside the numbers that
RFC 8785 (section 3.2.2.3) prints without an exponent in every language."""

_SHORT_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{3}", re.ASCII)
_LONG_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RenderSpec:
    """What to render, normalised; equal specs have equal content hashes.

    content: the exact bytes that the symbol says. format, error_correction: lower
    case. scale: px per module, or size: px of the whole side; exactly one is not
    None. margin: modules. dark, light: `#rrggbb` in lower case, None is transparent.
    Whole numbers are int.
    """

    content: bytes
    format: str
    error_correction: str
    boost: bool
    scale: float | None
    size: int | None
    margin: int
    dark: str | None
    light: str | None
    profile: str


class OutputFields(NamedTuple):
    """The output-affecting fields of a request as they came, in the schema's order."""

    content: str | bytes
    format: str
    error_correction: str
    boost: bool
    scale: float | None
    size: float | None
    margin: float
    dark: str | None
    light: str | None
    profile: str


output_fields: Final[Callable[[RenderRequested | RenderSubmitted], tuple[Any, ...]]] = attrgetter(*OutputFields._fields)


def validate(request: RenderRequested) -> RenderSpec:
    """Check a whole request. Raises RequestRefused where it has no canonical form."""
    check_envelope(request)
    return normalise(OutputFields(*output_fields(request)))


def check_envelope(request: RenderRequested) -> None:
    """Check the fields that do not change the output. Raises RequestRefused."""
    check_name("request_id", request.request_id)
    check_name("tenant", request.tenant)
    if request.idempotency_key is not None:
        check_name("idempotency_key", request.idempotency_key, nul_allowed=True)
    check_delivery(request.deliver)


def check_delivery(deliver: str) -> None:
    """Check how the artifact is to come. Raises RequestRefused."""
    if deliver not in DELIVERIES:
        raise _one_of("deliver", deliver, DELIVERIES)


def normalise(fields: OutputFields) -> RenderSpec:
    """Check and normalise the output-affecting fields. Raises RequestRefused."""
    content = _content(fields.content)
    if fields.profile not in PROFILES:
        raise _one_of("profile", fields.profile, tuple(PROFILES))
    file_format = fields.format.lower()
    if file_format not in FORMATS:
        raise _one_of("format", fields.format, tuple(FORMATS))
    level = fields.error_correction.lower()
    if level not in LEVELS:
        raise _one_of("error_correction", fields.error_correction, LEVELS)
    scale, size = _scale_or_size(fields, file_format)
    return RenderSpec(
        content=content,
        format=file_format,
        error_correction=level,
        boost=fields.boost,
        scale=scale,
        size=size,
        margin=_whole("margin", fields.margin, 0, "modules"),
        dark=_colour("dark", fields.dark),
        light=_colour("light", fields.light),
        profile=fields.profile,
    )


def _scale_or_size(fields: OutputFields, file_format: str) -> tuple[float | None, int | None]:
    if fields.size is not None:
        if fields.scale is not None:
            raise RequestRefused("invalid_option", "scale and size exclude each other; send one")
        return None, _whole("size", fields.size, 1, "pixels")
    scale = PROFILES[fields.profile].default_scale if fields.scale is None else fields.scale
    if FORMATS[file_format].whole_scale:
        return _whole("scale", scale, 1, f"pixels for {file_format}"), None
    number = _bounded("scale", scale, MIN_SCALE, "pixels")
    return int(number) if number.is_integer() else number, None


def _content(content: str | bytes) -> bytes:
    if not content:
        raise RequestRefused("content_empty")
    if isinstance(content, bytes):
        return content
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise RequestRefused(
            "invalid_content",
            f"the content has an unpaired surrogate at character {error.start + 1}, which UTF-8 cannot "
            "hold; repair the text or send its bytes as content_base64",
        ) from error


def check_name(field: str, value: str, *, nul_allowed: bool = False) -> None:
    """Check a name that somebody gave: 1 to 255 characters that UTF-8 can hold. Raises RequestRefused."""
    if not value:
        raise RequestRefused("invalid_option", f"{field} is empty; give it a name")
    if len(value) > MAX_NAME_CHARACTERS:
        raise RequestRefused(
            "invalid_option",
            f"{field} has {len(value):,} characters; at most {MAX_NAME_CHARACTERS} are taken",
        )
    if not nul_allowed and "\x00" in value:
        raise RequestRefused("invalid_option", f"{field} has a NUL character; leave it out")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise RequestRefused("invalid_option", f"{field} has an unpaired surrogate; repair it")


def _whole(field: str, value: float, least: int, unit: str) -> int:
    number = _bounded(field, value, least, unit)
    if not number.is_integer():
        raise RequestRefused(
            "invalid_option", f"{field} must be a whole number of {unit}, not {number!r}"
        )
    return int(number)


def _bounded(field: str, value: float, least: float, unit: str) -> float:
    number = float(value)
    if not math.isfinite(number) or not least <= number <= MAX_NUMBER:
        raise RequestRefused(
            "invalid_option",
            f"{field} must be a number of {unit} from {least} to {MAX_NUMBER:,}, not {number!r}",
        )
    return number


def _colour(field: str, value: str | None) -> str | None:
    if value is None:
        return None
    if _LONG_COLOUR.fullmatch(value):
        return value.lower()
    if _SHORT_COLOUR.fullmatch(value):
        return "#" + "".join(digit * 2 for digit in value[1:].lower())
    raise RequestRefused(
        "invalid_option",
        f"{field} must be #rgb or #rrggbb with hexadecimal digits, or null for transparent, "
        f"not {shown(value)}",
    )


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> RequestRefused:
    return RequestRefused(
        "invalid_option", f"{field} must be one of {', '.join(allowed)}, not {shown(value)}"
    )
