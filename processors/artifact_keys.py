"""Keys of artifacts in a folder or bucket: where the bytes of a content hash are.

A key is made of the characters that neither a URI (RFC 3986, section 2.3) nor a file
system reads in a way of its own, so it is the same text as an S3 key, as the path of
a file and in a `result_ref`.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from processors.row_keys import is_content_hash

# Lower case only: some file systems take "A" and "a" for one name.
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
_LONGEST_NAME: Final = 128
"""Characters of a tenant's folder. File systems end at 255 bytes a name, S3 at 1,024 a key."""


def artifact_path(profile: str, content_hash: str, file_format: str, tenant: str | None) -> str:
    """Return `<profile>/<first 2 of the hash>/<hash>.<format>`, with `t/<tenant>/` after the profile for a tenant.

    The profile comes first, so that a lifecycle rule or `rm -r` can drop one. The two digits keep
    a folder at 1/256 of the files. Different arguments give different keys.

    Raises:
        ValueError: the profile or format is no name of ours, or the hash is no content hash.
    """
    if not is_content_hash(content_hash.encode("ascii", "replace")):
        raise ValueError("a content hash is 64 lower-case hex digits")
    for name in (profile, file_format):
        if not name or name[0] == "." or not _PLAIN.issuperset(name):
            raise ValueError(f"no name of a profile or format: {name!a}")
    scope = "" if tenant is None else f"t/{tenant_folder(tenant)}/"
    return f"{profile}/{scope}{content_hash[:2]}/{content_hash}.{file_format}"


def tenant_folder(tenant: str) -> str:
    """Name a tenant's folder: its UTF-8 bytes, with `~` and two hex digits for each that is not plain.

    This is percent-encoding with `~` in place of `%`, which every client, gateway and URI would encode
    once more. Capitals, and a dot at the beginning, are not plain. A name longer than 128 characters becomes
    `~~` and the SHA-256 of its bytes, and no name `~`; neither can be an encoding.
    """
    raw = tenant.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if chr(byte) in _PLAIN and (byte != ord(".") or at) else f"~{byte:02x}" for at, byte in enumerate(raw))
    if len(name) > _LONGEST_NAME:
        return f"~~{sha256(raw).hexdigest()}"
    return name or "~"
