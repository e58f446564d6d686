"""A bound on the time of the long tests, so that a check with a limit ends within it on any machine.

`TEST_BUDGET_SECONDS` counts from the start of pytest. Once it is used up, long tests that have not begun are
skipped and named; nothing that has begun is cut short. Without the variable every test runs.
"""

from __future__ import annotations

import os
import time

import pytest

VARIABLE = "TEST_BUDGET_SECONDS"
_started = time.monotonic()


def skip_beyond_budget(item: pytest.Item) -> None:
    """Skip a long test that would begin after the budget is used up."""
    budget = os.environ.get(VARIABLE)
    if budget is not None and item.get_closest_marker("long") and time.monotonic() - _started > float(budget):
        pytest.skip(f"the budget of {budget} s for long tests is used up ({VARIABLE}); `make test-long` without it runs this one")
