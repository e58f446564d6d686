"""Content types: typed fields in, the one exact text of a standard out.

A further type is one file with its class, and one line in `TYPES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from processors.content_types.declaration import ContentType
from processors.content_types.email import Email
from processors.content_types.emvco import Emvco
from processors.content_types.epc import Epc
from processors.content_types.geo import Geo
from processors.content_types.qris import Qris
from processors.content_types.raw_bytes import Bytes
from processors.content_types.sms import Sms
from processors.content_types.tel import Tel
from processors.content_types.text import Text
from processors.content_types.url import Url
from processors.content_types.vcard import Vcard
from processors.content_types.wifi import Wifi

__all__ = [
    "CONTENT_TYPES", "Bytes", "ContentType", "Email", "Emvco", "Epc", "Geo", "Qris", "Sms", "Tel", "Text", "Url", "Vcard", "Wifi",
]

_TYPES: Final[tuple[type[ContentType], ...]] = (Text, Url, Wifi, Vcard, Email, Sms, Tel, Geo, Epc, Emvco, Qris, Bytes)

CONTENT_TYPES: Final[Mapping[str, type[ContentType]]] = MappingProxyType({declared.DECLARED.name: declared for declared in _TYPES})
"""Every type by its name, in the order in which they are shown."""
