"""A small client of the Confluent-compatible schema registry API (Confluent, Apicurio's ccompat, Karapace)."""

from __future__ import annotations

import base64
import json
from http.client import HTTPException
from typing import Any, Final, TypeVar
from urllib.error import HTTPError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import ProxyHandler, Request, build_opener

from schemas.errors import RegistryError, RegistryUnavailableError, UnknownSchemaError

T = TypeVar("T", int, str)
_CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_MAX_ANSWER_BYTES: Final = 1 << 20  # a schema is a few KiB; an answer of this size is not a registry's
_LATER: Final = frozenset((408, 425, 429))  # with 5xx, the statuses after which the same call may succeed
_NOT_FOUND: Final = 404
_SERVER_ERROR: Final = 500


class Registry:
    """Client of the registry at a base URL such as ``http://registry:8081``; answers are kept for its life.

    A user name and password in the URL are sent as basic authentication. ``timeout_s`` bounds connecting and each
    wait for bytes. Proxies of the environment are not used: a registry stands beside its Kafka.
    """

    def __init__(self, url: str, timeout_s: float = 5.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the schema registry's URL must be http://host:port or https://host:port")
        host = parts.netloc.rpartition("@")[2]
        self.url = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
        self._headers = {"Accept": f"{_CONTENT_TYPE}, application/json", "Content-Type": _CONTENT_TYPE}
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
        self._timeout_s = timeout_s
        self._open = build_opener(ProxyHandler({})).open
        self._texts: dict[int, str] = {}
        self._ids: dict[tuple[str, str], int] = {}

    def schema_text(self, schema_id: int) -> str:
        """The Avro schema of an id, as JSON text.

        Raises UnknownSchemaError if there is none or it is no self-contained Avro, RegistryUnavailableError if the
        registry gives no answer, RegistryError if it refuses us.
        """
        if schema_id not in self._texts:
            answer = self._call(f"/schemas/ids/{schema_id}")
            if answer.get("schemaType", "AVRO") != "AVRO" or answer.get("references"):
                raise UnknownSchemaError(f"schema {schema_id} of {self.url} is not Avro complete in itself")
            self._texts[schema_id] = self._member(answer, "schema", "")
        return self._texts[schema_id]

    def register(self, subject: str, text: str) -> int:
        """The id of a schema under a subject, registering it if it is new there. Raises as ``schema_text``."""
        if (subject, text) not in self._ids:
            answer = self._call(f"/subjects/{quote(subject, safe='')}/versions", {"schema": text})
            self._ids[subject, text] = self._member(answer, "id", 0)
        return self._ids[subject, text]

    def _member(self, answer: dict[str, Any], name: str, example: T) -> T:
        if not isinstance(value := answer.get(name), type(example)):
            raise RegistryUnavailableError(f"the answer of {self.url} has no {name}: is this a schema registry?")
        return value

    def _call(self, path: str, body: dict[str, str] | None = None) -> dict[str, Any]:
        request = Request(  # noqa: S310 - the scheme is checked above
            self.url + path, None if body is None else json.dumps(body).encode(), self._headers
        )
        try:
            with self._open(request, timeout=self._timeout_s) as response:
                raw = response.read(_MAX_ANSWER_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._refusal(path, error) from error
        except (OSError, HTTPException) as error:  # URLError and TimeoutError are OSErrors
            reason = getattr(error, "reason", error)
            raise RegistryUnavailableError(f"the schema registry at {self.url} cannot be reached: {reason}") from error
        try:
            answer = json.loads(raw) if len(raw) <= _MAX_ANSWER_BYTES else None
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise RegistryUnavailableError(f"{self.url} did not answer with a JSON object: is this a schema registry?")
        return answer

    def _refusal(self, path: str, error: HTTPError) -> RegistryError:
        try:
            said = json.loads(error.read(_MAX_ANSWER_BYTES)).get("message", "")
        except (OSError, HTTPException, ValueError, AttributeError):
            said = ""
        line = f"the schema registry at {self.url} answered {error.code} to {path}" + (f": {said}" if said else "")
        if error.code in _LATER or error.code >= _SERVER_ERROR:
            return RegistryUnavailableError(line)
        return UnknownSchemaError(line) if error.code == _NOT_FOUND else RegistryError(line)
