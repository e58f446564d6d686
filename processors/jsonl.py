"""One line of `qrstream publish` (JSON Lines) as a request."""

from __future__ import annotations

from typing import Any, Final

from processors.errors import RequestRefused
from processors.json_members import CONTENT, MEMBERS, content_of, json_object, typed, unknown_member
from schemas.events import RenderRequested

ANNOTATIONS: Final = frozenset({"note", "expect"})
"""Members for the reader of a file of requests; never published."""


def parse_request(line: str, *, request_id: str, requested_at: int) -> RenderRequested:
    """Read one line; what it leaves out takes the default of the schema and profile.

    request_id, requested_at (ms since the epoch, UTC): taken where the line has none.
    Instants are whole milliseconds since the epoch or RFC 3339 with an offset.
    Raises RequestRefused: invalid_request for what is no request at all,
    invalid_option for a member of the wrong JSON type, invalid_content for bad
    base64, invalid_payload for a payload that its standard refuses, content_empty
    without content. Values are checked by `spec.validate`,
    so an unpaired surrogate in the content passes.
    """
    members = {name: value for name, value in json_object(line, "the line").items() if name not in ANNOTATIONS}
    unknown = unknown_member(members, MEMBERS)
    if unknown is not None:
        raise RequestRefused("invalid_request", unknown)
    fields: dict[str, Any] = {"request_id": request_id, "requested_at": requested_at}
    fields["content"] = content_of(members, "the line")
    for name, value in members.items():
        if name not in CONTENT:
            fields[name] = typed(name, value)
    return RenderRequested(**fields)
