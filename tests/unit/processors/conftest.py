from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

from processors.canonical import content_hash
from processors.spec import RenderSpec, validate
from schemas.codec import Codec
from schemas.events import RenderRequested

REPOSITORY = Path(__file__).parents[3]
INPUTS = Path(__file__).parent / "inputs"


class MakeRequest(Protocol):
    def __call__(self, **fields: object) -> RenderRequested: ...


class MakeSpec(Protocol):
    def __call__(self, content: object = ..., **fields: object) -> RenderSpec: ...


class HashOf(Protocol):
    def __call__(self, **fields: object) -> str: ...


def _request(**fields: object) -> RenderRequested:
    given: dict[str, object] = {"request_id": "r-1", "content": "https://example.com", "requested_at": 0, **fields}
    return RenderRequested(**given)  # type: ignore[arg-type]  # tests pass wrong values on purpose


def _spec(content: object = "https://example.com", **fields: object) -> RenderSpec:
    return validate(_request(content=content, **fields))


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def inputs() -> Path:
    return INPUTS


@pytest.fixture(scope="session")
def request_of() -> MakeRequest:
    """A valid request, with the given fields instead of its own."""
    return _request


@pytest.fixture(scope="session")
def spec_of() -> MakeSpec:
    return _spec


@pytest.fixture(scope="session")
def hash_of() -> HashOf:
    """The content hash of a valid request with the given fields."""
    return lambda **fields: content_hash(validate(_request(**fields)))


@pytest.fixture(scope="session")
def codec() -> Codec:
    return Codec()
