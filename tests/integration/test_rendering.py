"""Renders that kill what renders them: real child processes, real signals, real exhaustion of memory."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from processors import render as rendering
from processors.canonical import content_hash
from processors.errors import RenderError
from processors.render import Rendered, render
from streams.rendering.frames import CauseInChild
from streams.rendering.renderer import Renderer, Result
from streams.settings import load_settings
from tests.support import deadly_render_child, faulty_render_child
from tests.support.renders import codes, good, spec_of
from tests.support.trace import Trace
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.long, pytest.mark.timeout(600)]  # a thousand renders, twice, beside other work
NewRenderer = Callable[..., Renderer]


def test_a_render_in_the_child_equals_one_in_this_process(new_renderer: NewRenderer) -> None:
    renderer = new_renderer(render_bound=60)  # version 40 takes seconds on a slow machine
    specs = [
        spec_of("äあ😀"), spec_of(b"\xff\x00\xfe"), spec_of("https://example.com", format="svg", scale=2.5), spec_of("A1", size=333, scale=None),
        spec_of("A1", dark=None, light="#123456", format="svg"), spec_of("A1", dark="#ffffff", light="#000000"), spec_of("7" * 7089, error_correction="l"),
    ]
    assert renderer.render_all(specs) == [render(spec) for spec in specs]


def test_the_child_refuses_scan_warnings_if_its_worker_does(new_renderer: NewRenderer) -> None:
    specs = [spec_of("A1", margin=0), spec_of("A1")]
    warned, sound = new_renderer().render_all(specs)
    refused, sound_too = new_renderer(scan_policy="refuse").render_all(specs)
    assert isinstance(warned, Rendered)
    assert warned.verification.warnings == ("quiet_zone",)
    assert isinstance(refused, RenderError)
    assert (refused.code, refused.message) == ("unscannable", "quiet_zone: the quiet zone is 0 of 4 modules wide; ask for a margin of 4")
    assert sound_too == sound == render(specs[1])


def test_an_error_of_the_child_is_the_error_of_this_process(renderer: Renderer) -> None:
    specs = [
        spec_of("A1", format="txt", dark="#0000ff"), spec_of("7" * 7090), spec_of("A1", dark="#ffffff"), spec_of("A1", dark="#fffffe"), spec_of("A1", size=3, scale=None),
        spec_of("A1", scale=1_000_000), spec_of("A1" * 500_000),
    ]
    here = []
    for spec in specs:
        with pytest.raises(RenderError) as caught:
            render(spec)
        here.append((type(caught.value), caught.value.code, caught.value.message, None))
    there = renderer.render_all(specs)
    assert [(type(error), error.code, error.message, error.__cause__) for error in there if isinstance(error, RenderError)] == here


def test_what_the_renderer_does_not_know_is_render_failed_with_its_cause(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("DIE:UNKNOWN")
    [there] = renderer.render_all([spec])
    monkeypatch.setattr(rendering, "make_symbol", lambda _spec: deadly_render_child.unknown())
    with pytest.raises(RenderError) as here:
        render(spec)
    assert isinstance(there, RenderError)
    assert (type(there), there.code, there.message) == (type(here.value), here.value.code, here.value.message)
    assert there.code == "render_failed"
    assert isinstance(there.__cause__, CauseInChild)
    assert "ArithmeticError: no such number" in str(there.__cause__)
    assert "make_symbol(spec)" in str(there.__cause__)


def test_what_kills_its_child_three_times_has_crashed_and_the_others_are_rendered(renderer: Renderer, tmp_path: Path) -> None:
    before, after = good(3), good(3, begin=3)
    results = renderer.render_all([*before, spec_of("DIE:SEGFAULT"), *after])
    assert codes(results) == ["rendered"] * 3 + ["renderer_crash"] + ["rendered"] * 3
    assert results[:3] + results[4:] == [render(spec) for spec in before + after]
    [tries] = tmp_path.glob("?" * 64)
    assert tries.stat().st_size == 3


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("SEGFAULT", "signal SIGSEGV: Fatal Python error: Segmentation fault"), ("MEMORY", "it reached the bound of 1,024 MiB"),
        ("EXIT", "exit code 3"), ("KILLED", "signal SIGKILL"), ("NONSENSE", "it sent a frame of 4,294,967,295 and 4,294,967,295 bytes"),
    ],
)
def test_each_way_to_die_is_told_and_counts(renderer: Renderer, way: str, reason: str) -> None:
    with capture_logs() as logs:
        results = renderer.render_all([spec_of("7"), spec_of(f"DIE:{way}"), spec_of("8")], deaths=[0, 2, 0])
    assert codes(results) == ["rendered", "renderer_crash", "rendered"]
    [told] = [line for line in logs if line["event"] == "renderer_died"]
    assert told["reason"].startswith(reason)
    assert (told["tries"], told["content_hash"]) == (3, content_hash(spec_of(f"DIE:{way}")))


def test_what_kills_its_child_twice_is_rendered(renderer: Renderer) -> None:
    specs = [*good(2), spec_of("DIE:EXIT:2"), *good(2, begin=2)]
    assert renderer.render_all(specs) == [render(spec) for spec in specs]


def test_deaths_that_were_counted_before_count(renderer: Renderer, tmp_path: Path) -> None:
    assert codes(renderer.render_all([spec_of("DIE:EXIT"), spec_of("7")], deaths=[2, 2])) == ["renderer_crash", "rendered"]
    [tries] = tmp_path.glob("?" * 64)
    assert tries.stat().st_size == 1
    assert codes(renderer.render_all([spec_of("8")], deaths=[3])) == ["renderer_crash"]


def test_an_endless_render_is_killed_at_its_bound_and_the_others_go_on(renderer: Renderer) -> None:
    before, after = good(2), good(2, begin=2)
    results = renderer.render_all([*before, spec_of("DIE:LOOP"), *after])
    assert codes(results) == ["rendered"] * 2 + ["render_timeout"] + ["rendered"] * 2


def test_the_bound_is_for_each_render_and_not_for_all(tmp_path: Path) -> None:
    with closing(Renderer(load_settings(render_bound=2.0))) as renderer:
        renderer.command = faulty_render_child.command(tmp_path / "trace", 0.5)
        specs = good(8)
        assert renderer.render_all(specs) == [render(spec) for spec in specs]


def test_a_leak_of_one_render_is_not_the_fault_of_another(renderer: Renderer) -> None:
    specs = [spec_of("DIE:LEAK"), spec_of("DIE:LEAK:1"), spec_of("7")]
    assert renderer.render_all(specs) == [render(spec) for spec in specs]


def test_what_a_library_prints_spoils_no_answer(renderer: Renderer) -> None:
    specs = [spec_of("DIE:PRINTS"), *good(2)]
    assert renderer.render_all(specs) == [render(spec) for spec in specs]


def test_a_thousand_with_three_bad_ones_keep_order_and_bytes(renderer: Renderer) -> None:
    specs = good(1_000)
    bad = {100: "DIE:SEGFAULT", 500: "DIE:LOOP", 999: "DIE:MEMORY"}
    for place, content in bad.items():
        specs[place] = spec_of(content)
    results = renderer.render_all(specs)
    assert {place: code for place, code in enumerate(codes(results)) if code != "rendered"} == {100: "renderer_crash", 500: "render_timeout", 999: "renderer_crash"}
    assert [result for place, result in enumerate(results) if place not in bad] == [render(spec) for place, spec in enumerate(specs) if place not in bad]


def test_many_threads_get_their_own_answers(renderer: Renderer) -> None:
    calls = [[*good(6, begin=10 * number), spec_of("DIE:EXIT:1" if number == 3 else f"A{number}")] for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(renderer.render_all, calls)) == [[render(spec) for spec in call] for call in calls]


def test_a_child_killed_from_outside_in_the_middle_costs_one_try(renderer: Renderer) -> None:
    killed: list[int] = []

    def kill_once(_: Result) -> bool:
        if not killed and renderer.pid is not None:
            killed.append(renderer.pid)
            os.kill(killed[0], signal.SIGKILL)
        return True

    specs = good(30)
    assert renderer.render_all(specs, go_on=kill_once) == [render(spec) for spec in specs]
    assert renderer.pid not in (None, *killed)


def test_a_child_that_ended_while_nobody_asked_is_nobodys_fault(renderer: Renderer) -> None:
    renderer.start()
    assert renderer.pid is not None
    os.kill(renderer.pid, signal.SIGKILL)
    wait_until(lambda: renderer.pid is None, 10, "the child has ended")
    assert codes(renderer.render_all([spec_of("7")], deaths=[2])) == ["rendered"]


@pytest.mark.parametrize("content", ["7", "7" * 1_000_000], ids=["answers", "specs"])
def test_a_child_that_stops_reading_and_writing_is_killed_at_the_bound(renderer: Renderer, content: str) -> None:
    stopped: list[Result] = []

    def stop_once(result: Result) -> bool:
        if not stopped and renderer.pid is not None:
            os.kill(renderer.pid, signal.SIGSTOP)
        stopped.append(result)
        return True

    # More than fits into a socket: a worker that waited for it to be taken would wait for ever.
    results = renderer.render_all([spec_of("1"), *[spec_of(content)] * 20, spec_of("2")], go_on=stop_once)
    # What the child had answered before it was stopped was an answer.
    late = codes(results).index("render_timeout")
    assert codes(results).count("render_timeout") == 1
    assert 1 <= late <= 20
    assert codes(results)[-1] == "rendered"


def test_enough_ends_the_work_with_a_prefix(renderer: Renderer) -> None:
    specs = good(200)
    results = renderer.render_all(specs, go_on=lambda _: False)
    assert 1 <= len(results) < 40
    assert results == [render(spec) for spec in specs[:len(results)]]
    assert renderer.render_all(specs[50:52]) == [render(spec) for spec in specs[50:52]]


def test_a_caller_that_fails_leaves_no_answers_to_the_next(renderer: Renderer) -> None:
    def fail(_: Result) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        renderer.render_all(good(10), go_on=fail)
    assert renderer.render_all(good(3, begin=20)) == [render(spec) for spec in good(3, begin=20)]


def test_a_traced_child_counts_each_call_of_the_encoder(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")
    with closing(Renderer(load_settings())) as renderer:
        renderer.command = faulty_render_child.command(trace.path)
        results = renderer.render_all(good(4))
        assert all(isinstance(result, Rendered) for result in results)
        assert len(trace.events("encoded", pid=renderer.pid)) == 4
