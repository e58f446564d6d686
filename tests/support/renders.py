"""Specs to render, and what came of them."""

from __future__ import annotations

from processors.errors import RenderError
from processors.spec import RenderSpec
from streams.rendering.renderer import Result


def spec_of(content: str | bytes, **fields: object) -> RenderSpec:
    given: dict[str, object] = {
        "format": "png", "error_correction": "m", "boost": True, "scale": 2, "size": None, "margin": 4,
        "dark": "#000000", "light": "#ffffff", "profile": "qr-1", **fields,
    }
    return RenderSpec(content.encode() if isinstance(content, str) else content, **given)  # type: ignore[arg-type]


def good(count: int, begin: int = 0) -> list[RenderSpec]:
    """Digits, which are rendered fast."""
    return [spec_of(f"{number:06}") for number in range(begin, begin + count)]


def codes(results: list[Result]) -> list[str]:
    return [result.code if isinstance(result, RenderError) else "rendered" for result in results]
