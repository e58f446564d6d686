"""docs/requests.md, "Order": what is promised about the order of outcomes holds for any history."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.deciding.partition import Partition, transient

HASHES = "xyz"
STEPS = st.one_of(
    st.tuples(st.just("send"), st.lists(st.sampled_from(HASHES), min_size=1, max_size=5)),
    st.tuples(st.just("fail"), st.integers(1, 3)),
    st.tuples(st.just("return"), st.integers(0, 3)),
    st.tuples(st.just("tend"), st.none()),
)


class History:
    """Sends, failures and returns, and what was seen of each request."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.sent: list[tuple[str, str]] = []
        self.returned = 0
        self.waited: set[str] = set()

    def step(self, kind: str, argument: object) -> None:
        """One step of the history."""
        if kind == "send":
            assert isinstance(argument, list)
            names = [(f"r{len(self.sent) + number}", content) for number, content in enumerate(argument)]
            self.sent += names
            self.partition.send(*(self.partition.request(name, content) for name, content in names))
        elif kind == "fail":
            assert isinstance(argument, int)
            self.partition.renderer.fails_with = [transient() for _ in range(argument)]
        elif kind == "return":
            self._bring_back(1)
        else:
            self.partition.tend()
        answered = {name for name, _ in self.partition.outcomes()}
        self.waited |= {name for name, _ in self.sent if name not in answered}

    def drain(self) -> None:
        """Until every request has its outcome."""
        self.partition.renderer.fails_with = []
        for _ in range(100):
            self._bring_back(100)
            self.partition.tend()
            if len(self.partition.outcomes()) == len(self.sent):
                return

    def _bring_back(self, most: int) -> None:
        parked = self.partition.parked()
        for record in parked[self.returned : self.returned + most]:
            self.returned += 1
            self.partition.bring_back(record)

    @property
    def parked_names(self) -> set[str]:
        """Requests that were parked themselves."""
        codec = self.partition.decider.codec
        from schemas.events import RenderRequested  # noqa: PLC0415

        return {codec.decode(record.value or b"", RenderRequested).request_id for record in self.partition.parked()}


@given(st.lists(STEPS, max_size=14))
@settings(max_examples=40, deadline=None)
def test_outcomes_come_once_and_in_the_order_that_is_promised(steps: list[tuple[str, object]]) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.MonkeyPatch.context() as patch:
        history = History(Partition(executor, patch))
        for kind, argument in steps:
            history.step(kind, argument)
        history.drain()
        outcomes = [name for name, _ in history.partition.outcomes()]
        assert Counter(outcomes) == Counter(name for name, _ in history.sent)
        place = {name: number for number, name in enumerate(outcomes)}
        parked = history.parked_names
        for content in HASHES:
            mine = [name for name, of in history.sent if of == content]
            at_once = [name for name in mine if name not in history.waited and name not in parked]
            waiting = [name for name in mine if name in history.waited and name not in parked]
            assert sorted(at_once, key=place.__getitem__) == at_once
            assert sorted(waiting, key=place.__getitem__) == waiting
        assert history.partition.keys(b"waiting/") == history.partition.keys(b"parked/") == history.partition.keys(b"answerable/") == []
