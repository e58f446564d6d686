"""The canonical form and content hash a second time, from docs/content-hash.md alone.

Nothing of `processors` is imported: were both wrong in the same way, the tests would see nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

# Escapes of RFC 8785 section 3.2.2.2; other control characters are \u00xx in lower case.
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonical_form(request: Mapping[str, Any]) -> str:
    """The text that is hashed; `request` has every output-affecting field and is valid."""
    size = request["size"]
    scale = request["scale"] if size is not None or request["scale"] is not None else 8
    content = request["content"].encode() if isinstance(request["content"], str) else request["content"]
    members: dict[str, str] = {
        "boost": "true" if request["boost"] else "false",
        "dark": _colour(request["dark"]),
        "error_correction": _string(request["error_correction"].lower()),
        "format": _string(request["format"].lower()),
        "light": _colour(request["light"]),
        "margin": _number(request["margin"]),
        "profile": _string(request["profile"]),
        "scale": _number(scale),
        "size": _number(size),
    }
    try:
        members["content"] = _string(content.decode("utf-8", "strict"))
    except UnicodeDecodeError:
        members["content_base64"] = _string(base64.standard_b64encode(content).decode("ascii"))
    return "{" + ",".join(f'"{name}":{members[name]}' for name in sorted(members)) + "}"


def content_hash(request: Mapping[str, Any]) -> str:
    """64 lower-case hex digits."""
    return hashlib.sha256(b"qr-render/1\n" + canonical_form(request).encode()).hexdigest()


def invalid_key(request_id: str) -> str:
    """The key of a request that has no canonical form."""
    return hashlib.sha256(b"qr-invalid/1\n" + request_id.encode()).hexdigest()


def _string(text: str) -> str:
    out = []
    for character in text:
        if character in _SHORT:
            out.append(_SHORT[character])
        elif character < " ":
            out.append(f"\\u{ord(character):04x}")
        else:
            out.append(character)
    return '"' + "".join(out) + '"'


def _colour(value: str | None) -> str:
    if value is None:
        return "null"
    digits = value.lower().removeprefix("#")
    return _string("#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits)))


def _number(value: float | None) -> str:
    # From 0.01 to 1,000,000 Python's shortest form is ECMAScript's (RFC 8785 section 3.2.2.3).
    if value is None:
        return "null"
    return str(int(value)) if value == int(value) else repr(float(value))
