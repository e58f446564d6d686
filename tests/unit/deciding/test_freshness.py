"""How long a result answers, what happens behind its time, and how it is forgotten."""

from __future__ import annotations

from processors.canonical import identify
from processors.freshness import jittered_ttl
from streams.deciding.control import CONTROL, INVALIDATE, PROFILE
from tests.unit.deciding.partition import BEGIN_MS, Partition, transient


def fresh_for(partition: Partition) -> int:
    return jittered_ttl(identify(partition.request(""))[1], int(partition.settings.result_ttl * 1000))


def test_a_result_answers_until_its_time_then_stale_with_one_refresh_for_all(partition: Partition) -> None:
    partition.send(partition.request("a"))
    partition.now_ms = BEGIN_MS + fresh_for(partition) - 1
    partition.send(partition.request("b"))
    partition.now_ms += 1
    partition.send(partition.request("c"), partition.request("d"), partition.request("e"))
    assert partition.outcomes() == [("a", "rendered"), ("b", "cache"), ("c", "stale"), ("d", "cache"), ("e", "cache")]
    assert partition.renderer.rendered == 2


def test_behind_the_stale_window_a_burst_costs_one_render(partition: Partition) -> None:
    partition.send(partition.request("a"))
    partition.now_ms = BEGIN_MS + fresh_for(partition) + int(partition.settings.stale_window * 1000)
    partition.send(*(partition.request(f"b{number}") for number in range(200)))
    assert [source for _, source in partition.outcomes()].count("rendered") == 2
    assert partition.renderer.rendered == 2


def test_a_refresh_that_fails_is_put_off_and_the_stale_result_answers_on(partition: Partition) -> None:
    partition.send(partition.request("a"))
    partition.now_ms = BEGIN_MS + fresh_for(partition)
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("b"))
    partition.send(partition.request("c"))
    assert partition.outcomes()[1:] == [("b", "stale"), ("c", "stale")]
    assert partition.renderer.rendered == 1
    partition.now_ms += 1_000
    partition.send(partition.request("d"))
    partition.send(partition.request("e"))
    assert partition.outcomes()[3:] == [("d", "stale"), ("e", "cache")]
    assert partition.renderer.rendered == 2


def test_what_has_expired_is_swept_and_nothing_else(partition: Partition) -> None:
    partition.send(partition.request("a"), partition.request("b", "y"))
    assert partition.keys(b"result/")
    partition.now_ms = BEGIN_MS + int(partition.settings.request_ttl * 1000)
    partition.tend()
    assert partition.keys(b"request/") == []
    assert len(partition.keys(b"result/")) == len(partition.keys(b"artifact/")) == 2
    partition.now_ms = BEGIN_MS + int((partition.settings.result_ttl * 1.1 + partition.settings.stale_window) * 1000)
    partition.tend()
    assert list(partition.owner.rows) == [partition.owner.claim.position_key]


def test_nothing_is_swept_that_is_not_past_by_the_brokers_clock_too(partition: Partition) -> None:
    partition.send(partition.request("a"))
    partition.owner.append_time_ms = BEGIN_MS
    partition.now_ms = BEGIN_MS + 1000 * int(partition.settings.result_ttl * 10)
    partition.owner.chores = True
    partition.send(partition.request("b", "y"))
    assert len(partition.keys(b"request/")) == 2


def test_a_row_written_again_outlives_its_first_time(partition: Partition) -> None:
    partition.send(partition.request("a"))
    partition.now_ms = BEGIN_MS + fresh_for(partition)
    partition.send(partition.request("b"))
    partition.now_ms = BEGIN_MS + fresh_for(partition) + int(partition.settings.stale_window * 1000)
    partition.tend()
    partition.send(partition.request("c"))
    assert partition.outcomes()[-1] == ("c", "cache")


def test_an_invalidated_hash_is_rendered_anew_and_others_are_not(partition: Partition) -> None:
    partition.send(partition.request("a"), partition.request("b", "y"))
    partition.deliver((identify(partition.request(""))[1].encode(), b"", ((CONTROL, INVALIDATE),)))
    partition.now_ms += 1
    partition.send(partition.request("c"), partition.request("d", "y"))
    assert partition.outcomes()[2:] == [("c", "rendered"), ("d", "cache")]


def test_an_invalidated_profile_is_rendered_anew_as_far_as_it_was_there(partition: Partition) -> None:
    partition.send(partition.request("a"), partition.request("b", "y"))
    partition.deliver((None, b"", ((CONTROL, INVALIDATE), (PROFILE, b"qr-1"))))
    partition.now_ms += 1
    partition.send(partition.request("c"), partition.request("d"))
    partition.send(partition.request("e", "y"))
    assert partition.outcomes()[2:] == [("c", "rendered"), ("d", "cache"), ("e", "rendered")]


def test_a_control_event_that_nobody_knows_is_passed_over(partition: Partition) -> None:
    partition.deliver((b"k", b"", ((CONTROL, b"dance"),)))
    assert partition.owner.position == 1
    assert partition.outcomes() == []


def test_a_hash_that_is_being_retried_is_not_invalidated(partition: Partition) -> None:
    partition.renderer.fails_with = [transient()]
    partition.send(partition.request("a"), partition.request("b"))
    partition.deliver((identify(partition.request(""))[1].encode(), b"", ((CONTROL, INVALIDATE),)))
    partition.bring_back(partition.parked()[0])
    partition.tend()
    assert partition.outcomes() == [("a", "rendered"), ("b", "cache")]
