"""Contents of an exact length in each mode, for symbols of a wanted version and level."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from processors.symbol.capacity import CHARACTERS

LENGTHS = ("capacity", "one below", "random")


def digits(random: Random, length: int) -> bytes:
    return bytes(random.choices(b"0123456789", k=length))


def alphanumeric(random: Random, length: int) -> bytes:
    # One that is no digit, or the mode were numeric.
    return bytes(random.choices(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:", k=length - 1)) + b":"


def ascii_text(random: Random, length: int) -> bytes:
    return bytes(random.choices(b"abcdefghijklmnopqrstuvwxyz ABC0123456789.,?/", k=length - 1)) + b"a"


def utf_8(random: Random, length: int) -> bytes:
    text = ""
    while len(text.encode()) < length:
        text += random.choice("äßéЖאあ日本語看😀²¥‾")
    cut = text.encode()[:length].decode(errors="ignore").encode()
    return cut + b"a" * (length - len(cut))


def random_bytes(random: Random, length: int) -> bytes:
    return b"\xfe" + random.randbytes(length - 1)


def one_value(random: Random, length: int) -> bytes:
    return random.choice((b"\x00", b"\xff")) * length


KINDS: dict[str, tuple[str, Callable[[Random, int], bytes]]] = {
    "digits": ("numeric", digits),
    "alphanumeric": ("alphanumeric", alphanumeric),
    "ascii text": ("byte", ascii_text),
    "utf-8": ("byte", utf_8),
    "random bytes": ("byte", random_bytes),
    "one value": ("byte", one_value),
}


def content_of(kind: str, version: int, level: str, length: str) -> bytes:
    """The same content at each call, for a symbol of this version where the level is not raised."""
    mode, make = KINDS[kind]
    most = CHARACTERS[mode][level][version - 1]
    least = CHARACTERS[mode][level][version - 2] + 1 if version > 1 else 1
    random = Random(f"{kind} {version} {level} {length}")
    characters = {"capacity": most, "one below": most - 1, "random": random.randint(least, most)}[length]
    return make(random, characters)
