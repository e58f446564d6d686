"""The canonical form of a request and its content hash; docs/content-hash.md is its specification."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from processors.spec import OutputFields, RenderSpec, normalise, output_fields
from schemas.events import RenderRequested, RenderSubmitted

HASH_DOMAIN: Final = b"qr-render/1\n"
INVALID_DOMAIN: Final = b"qr-invalid/1\n"

_MEMO_CONTENT: Final = 2_048
_MEMO_ENTRIES: Final = 4_096
"""Repeated requests find their hash in about 1 us instead of 30. Both bounds together keep the
memo under 30 MB; longer contents, rare and up to 1 MiB each, are hashed anew."""


def canonical_bytes(spec: RenderSpec, tenant: str | None = None) -> bytes:
    """RFC 8785 JSON of every output-affecting field, UTF-8; with the tenant where tenants are kept apart.

    The content is the member `content`, a string, where its bytes are valid UTF-8
    (RFC 3629); otherwise `content_base64` with the padded standard alphabet
    (RFC 4648 section 4). One content has exactly one of the two.
    """
    members: dict[str, str | bool | float | None] = {
        "boost": spec.boost,
        "dark": spec.dark,
        "error_correction": spec.error_correction,
        "format": spec.format,
        "light": spec.light,
        "margin": spec.margin,
        "profile": spec.profile,
        "scale": spec.scale,
        "size": spec.size,
    }
    if tenant is not None:
        members["tenant"] = tenant
    try:
        members["content"] = spec.content.decode()
    except UnicodeDecodeError:
        members["content_base64"] = b64encode(spec.content).decode()
    # In this domain (ASCII names, numbers from 0.01 to 1,000,000) the json module writes what RFC 8785
    # section 3.2.2 asks for, as a test against the rfc8785 package shows; that one takes half a second
    # for a mebibyte of control characters, which a publisher is free to send.
    text = json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def content_hash(spec: RenderSpec, tenant: str | None = None) -> str:
    r"""SHA-256 of `qr-render/1\n` and the canonical bytes, as 64 lower-case hex digits."""
    return sha256(HASH_DOMAIN + canonical_bytes(spec, tenant)).hexdigest()


def invalid_key(request_id: str) -> str:
    r"""Key of a request that has no canonical form: SHA-256 of `qr-invalid/1\n` and its id, in hex.

    The id is UTF-8; an unpaired surrogate, which no record can hold, is encoded as
    its three bytes so that a publisher can still name the request in its log.
    """
    return sha256(INVALID_DOMAIN + request_id.encode("utf-8", "surrogatepass")).hexdigest()


def identify(request: RenderRequested | RenderSubmitted, *, tenants_apart: bool = False) -> tuple[RenderSpec, str]:
    """Return spec and content hash from the output-affecting fields alone, and the tenant's if tenants are kept apart.

    Raises RequestRefused where they have no canonical form (never memoised).
    """
    identified = _memoised if len(request.content) <= _MEMO_CONTENT else _identified
    return identified(output_fields(request), request.tenant if tenants_apart else None)


def _identified(fields: tuple[Any, ...], tenant: str | None) -> tuple[RenderSpec, str]:
    spec = normalise(OutputFields(*fields))
    return spec, content_hash(spec, tenant)


_memoised: Final = lru_cache(maxsize=_MEMO_ENTRIES)(_identified)
