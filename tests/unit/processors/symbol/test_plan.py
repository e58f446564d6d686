from __future__ import annotations

import dataclasses
import gc
import tracemalloc

import numpy as np
import pytest

from processors.symbol import forget_plans
from processors.symbol.capacity import LEVELS, VERSIONS
from processors.symbol.error_correction import contributions
from processors.symbol.plan import Plan, plan_of, version_plan


def arrays_of(plan: object) -> list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """Every array of a plan, those of its parts included."""
    found = []
    for field in dataclasses.fields(plan):  # type: ignore[arg-type]
        value = getattr(plan, field.name)
        if isinstance(value, np.ndarray):
            found.append(value)
        elif dataclasses.is_dataclass(value):
            found += arrays_of(value)
    return found


def test_all_plans_together_take_less_than_40_mib_and_are_made_once() -> None:
    forget_plans()
    gc.collect()
    tracemalloc.start()
    try:
        plans = {(version, level): plan_of(version, level) for version in VERSIONS for level in LEVELS}
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept <= 40 << 20
    assert all(plan_of(version, level) is plan for (version, level), plan in plans.items())
    assert len({id(plan.version) for plan in plans.values()}) == 40
    assert len({id(plan.table) for plan in plans.values()}) == 13


@pytest.mark.parametrize(("version", "level"), [(1, "h"), (7, "m"), (40, "l")])
def test_no_array_of_a_plan_can_be_written_to(version: int, level: str) -> None:
    arrays = arrays_of(plan_of(version, level))

    assert len(arrays) == {1: 5, 7: 6, 40: 8}[version]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_plan_is_made_when_it_is_asked_for() -> None:
    forget_plans()
    assert isinstance(plan_of(5, "q"), Plan)

    assert (plan_of.cache_info().currsize, version_plan.cache_info().currsize, contributions.cache_info().currsize) == (1, 1, 1)
