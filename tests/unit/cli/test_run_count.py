"""How `qrstream up` counts requests and outcomes."""

from __future__ import annotations

import pytest

from processors.errors import RequestRefused
from schemas.events import RenderCompleted, RenderFailed, RenderRequested, Verification
from streams.client import Published
from streams.local_run.run_count import RunCount, marked, new_mark

MARK = "~k3f9xw"
KEY, OTHER_KEY = "1" * 64, "2" * 64


def request(request_id: str) -> RenderRequested:
    return RenderRequested(request_id=request_id, requested_at=0, content="a")


def published(request_id: str, key: str = KEY) -> Published:
    return Published(request_id + MARK, "default", key, key, 0, 0)


def completed(request_id: str, source: str = "rendered", mark: str = MARK) -> RenderCompleted:
    return RenderCompleted(
        event_id="e", request_id=request_id + mark, tenant="default", generation=0, content_hash=KEY, source=source, format="png",
        media_type="image/png", checksum="", size_bytes=0, result_ref="", renderer="", profile="qr-1", version=1, error_correction="m", mask=0,
        verification=Verification(decoder="", contrast_ratio=21, quiet_zone_modules=4, module_px=8, inverted=False),
        attempts=1, requested_at=0, completed_at=0, expires_at=0,
    )


def failed(request_id: str, code: str) -> RenderFailed:
    return RenderFailed(
        event_id="e", request_id=request_id + MARK, tenant="default", generation=0, error_code=code, error_class="permanent", message="",
        attempts=1, requested_at=0, failed_at=0,
    )


def test_completed_and_failed_are_requests_less_duplicates() -> None:
    count = RunCount(MARK)
    for request_id in ("a", "b", "a", "c"):
        count.publish(published(request_id))
    count.refuse(RequestRefused("invalid_content"))
    count.outcome(KEY.encode(), completed("a"))
    count.outcome(KEY.encode(), completed("b", "cache"))
    assert count.answered == 2
    count.outcome(KEY.encode(), failed("c", "unscannable"))
    assert count.complete
    assert count.summary(1.5) == {"requests": 5, "completed": 2, "failed": 2, "rendered": 1, "from_cache": 1, "duplicates": 1, "seconds": 1.5}
    assert count.failed_by_code() == {"unscannable": 1, "invalid_content": 1}


def test_an_outcome_that_comes_before_the_acknowledgement_counts() -> None:
    count = RunCount(MARK)
    assert count.outcome(KEY.encode(), completed("a"))
    count.publish(published("a"))
    assert count.complete


def test_outcomes_of_other_runs_do_not_count() -> None:
    count = RunCount(MARK)
    count.publish(published("a"))
    assert not count.outcome(KEY.encode(), completed("a", mark="~other0"))
    assert not count.complete


def test_the_same_id_under_another_key_is_another_request() -> None:
    count = RunCount(MARK)
    count.publish(published("a"))
    count.publish(published("a", OTHER_KEY))
    count.outcome(KEY.encode(), completed("a"))
    assert (count.awaited, count.answered, count.duplicates) == (2, 1, 0)


def test_a_second_outcome_of_one_request_is_surplus() -> None:
    count = RunCount(MARK)
    count.publish(published("a"))
    assert count.outcome(KEY.encode(), completed("a"))
    assert not count.outcome(KEY.encode(), completed("a"))
    assert count.surplus == 1


def test_each_run_has_a_mark_of_its_own_behind_the_id() -> None:
    assert new_mark() != new_mark()
    assert marked(request("order-7"), MARK).request_id == "order-7" + MARK


def test_a_long_id_keeps_its_length_and_differs_where_only_its_end_did() -> None:
    one, other = (marked(request("x" * 249 + end), MARK).request_id for end in ("123456", "123457"))
    assert len(one) == len(other) == 255
    assert one != other
    assert one.endswith(MARK)


def test_an_id_that_is_too_long_stays_so() -> None:
    assert len(marked(request("x" * 256), MARK).request_id) > 255


def test_an_empty_id_is_refused_with_the_code_of_the_stream() -> None:
    with pytest.raises(RequestRefused) as refused:
        marked(request(""), MARK)
    assert refused.value.code == "invalid_option"
