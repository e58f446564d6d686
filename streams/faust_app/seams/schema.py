"""Events as they came: bytes, decoded by us inside the agent, where what cannot be read becomes a dead letter."""

from __future__ import annotations

from typing import Any

from faust.serializers.schemas import Schema


class RawSchema(Schema[bytes, bytes]):
    """Keys and values as they are; Faust's own way to raw bytes asks two codec registries for every event."""

    def __init__(self) -> None:
        super().__init__(key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")

    def compile(self, app: Any, **_on_errors: Any) -> Any:
        create_event = app.create_event

        async def decode(message: Any, *, propagate: bool = False) -> Any:  # Faust awaits it
            return create_event(message.key, message.value, message.headers, message)

        return decode
