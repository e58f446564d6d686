"""Requests in, outcomes out, exactly once, with nothing going wrong and with workers killed or joining."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.support.publisher import contents
from tests.support.stream_run import StreamRun

pytestmark = pytest.mark.integration
NewStream = Callable[..., StreamRun]


def test_twenty_thousand_requests_over_two_thousand_contents_are_rendered_two_thousand_times(stream: StreamRun) -> None:
    worker = stream.start()
    stream.publisher.publish(contents(20_000, 2_000))
    stream.wait_all(worker, within_s=180)
    verdict = stream.exactly_once(renders=2_000)
    assert verdict.outcomes == 20_000
    assert verdict.by_source == {"rendered": 2_000, "cache": 18_000}
    assert verdict.encoder_calls == 2_000
    assert verdict.aborted == 0
