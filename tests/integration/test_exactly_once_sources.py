"""Source topics as transactional publishers leave them: commit markers, aborted runs, gaps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.publisher import contents
from tests.support.stream_run import StreamRun

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
NewStream = Callable[..., StreamRun]
INTERVAL_S = 2.0


def test_the_group_offset_reaches_the_end_of_a_source_of_one_record_transactions(new_stream: NewStream) -> None:
    stream = new_stream(QR_COMMIT_INTERVAL=str(INTERVAL_S))
    parts = contents(300, 30)
    for number, content in enumerate(parts):
        stream.publisher.publish([content], transaction="commit")
        if number % 20 == 0:
            stream.publisher.publish(contents(30, 30, seed=number), transaction="abort")
    stream.publisher.publish(contents(30, 30), transaction="abort")
    worker = stream.start()
    stream.wait_all(worker)
    # Two intervals, from the moment when the last outcome is visible.
    ends = {p: last + 1 for p, last in stream.publisher.last_offsets.items()}
    stream.wait(lambda: stream.committed_offsets() == ends, "the group's offsets are those of the last records + 1", 2 * INTERVAL_S, worker)
    taken = stream.trace.offsets("taken")
    assert min(offset for _, offset in taken) == 0
    assert worker.terminate() == 0
    again = stream.start()
    stream.publisher.publish(contents(20, 20))
    stream.wait_all(again)
    assert not stream.trace.offsets("taken", pid=again.pid) & taken
    verdict = stream.exactly_once(renders=30)
    assert verdict.ghosts == []
