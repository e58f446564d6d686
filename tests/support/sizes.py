"""How many requests a case runs with: small in `make test`, the promised 20,000 over 2,000 in `make test-long`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Size:
    """Requests, distinct contents among them, and records of one transaction at most."""

    requests: int
    distinct: int
    batch: int


SMALL = Size(2_000, 100, 50)
FULL = Size(20_000, 2_000, 500)

LARGEST = "20,000"

both_sizes = pytest.mark.parametrize(
    "size", [pytest.param(SMALL, id="2,000"), pytest.param(FULL, id=LARGEST, marks=pytest.mark.long)]
)
