"""What every test may ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.broker import Names, session_broker, unique_names
from tests.support.sizes import LARGEST
from tests.support.time_budget import skip_beyond_budget


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Long tests begin only within the budget, if there is one."""
    skip_beyond_budget(item)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The largest runs late, benchmarks last: on a slow machine the budget for long tests goes to many small faults first."""
    items.sort(key=lambda item: (item.path.name == "test_cli_bench.py", LARGEST in item.name))


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """host:port of one real Kafka broker for the whole run."""
    with session_broker(tmp_path_factory.mktemp("broker")) as bootstrap:
        yield bootstrap


@pytest.fixture
def names() -> Names:
    """A topic prefix and an application id of this test alone."""
    return unique_names()
