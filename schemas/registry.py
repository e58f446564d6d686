"""A small client of the Confluent-compatible schema registry API."""

from __future__ import annotations


class Registry:
    """Client of one registry."""

    def __init__(self, url: str, timeout_s: float = 5.0) -> None:
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
