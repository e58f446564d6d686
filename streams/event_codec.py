"""The codec that the settings ask for: one decision for publishers, workers and readers."""

from __future__ import annotations

from schemas.codec import Codec, Framing
from schemas.registry import Registry
from streams.settings import Settings


def event_codec(settings: Settings) -> Codec:
    """Confluent's wire format with a schema registry, single-object encoding without; both are read."""
    if settings.schema_registry is None:
        return Codec(Framing.SINGLE_OBJECT)
    return Codec(Framing.CONFLUENT, Registry(settings.schema_registry))
