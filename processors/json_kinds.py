"""How messages call the JSON type of a value; the value itself may be content, and stays out of them."""

from __future__ import annotations

from typing import Final

_KINDS: Final = {
    str: "this string",
    bool: "true or false",
    int: "this number",
    float: "this number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def kind_of(value: object) -> str:
    """`an array`, `this number`; the name of the Python type where JSON has none."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")
