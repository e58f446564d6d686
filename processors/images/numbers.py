"""Numbers as vector formats have them: plain decimals, the same in every locale."""

from __future__ import annotations


def decimal(number: float, places: int = 6) -> str:
    """Write a number with up to `places` decimals, without trailing zeros or an exponent."""
    text = f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rgb(colour: str) -> str:
    """Red, green and blue of `#rrggbb` from 0 to 1, as PDF and PostScript take them."""
    return " ".join(decimal(channel / 255, 4) for channel in bytes.fromhex(colour[1:]))
