"""How long a child lives, and how it can be made to suffer: real signals, real kills of its worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from processors.canonical import content_hash
from streams.exit_codes import ExitCode
from streams.rendering.renderer import Renderer, RendererUnavailable, RendererUnfit
from tests.support.renders import codes, good, spec_of
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.long]
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc and PR_SET_PDEATHSIG are Linux's")
NewRenderer = Callable[..., Renderer]


def gone(pid: int) -> bool:
    """Whether a process has ended, a dead one that nobody has reaped included."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_the_child_outlives_the_thread_that_asked_for_it(renderer: Renderer) -> None:
    thread = threading.Thread(target=renderer.start)
    thread.start()
    thread.join()
    pid = renderer.pid
    assert codes(renderer.render_all(good(3))) == ["rendered"] * 3
    assert renderer.pid == pid is not None


@pytest.mark.parametrize("received", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_for_the_worker_do_not_end_its_child(renderer: Renderer, received: signal.Signals) -> None:
    renderer.start()
    pid = renderer.pid
    assert pid is not None
    assert os.getsid(pid) == pid
    os.kill(pid, received)
    assert codes(renderer.render_all(good(1))) == ["rendered"]
    assert renderer.pid == pid


@linux
def test_the_child_is_killed_before_the_worker_when_memory_is_short_and_knows_no_secret(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QR_KAFKA_SSL_KEY_PASSWORD", "hunter2")
    renderer.start()
    process = Path("/proc") / str(renderer.pid)
    assert (process / "oom_score_adj").read_text().strip() == "1000"
    assert b"hunter2" not in (process / "environ").read_bytes()


def test_closing_ends_the_child(renderer: Renderer) -> None:
    renderer.start()
    pid = renderer.pid
    assert pid is not None
    renderer.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("/no/such/python",), "No such file or directory: '/no/such/python'"),
        ((sys.executable, "-c", "import no_such_module"), "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_child_that_cannot_be_started_is_one_line_and_an_exit_code(new_renderer: NewRenderer, command: tuple[str, ...], reason: str) -> None:
    renderer = new_renderer()
    renderer.command = command
    with pytest.raises(RendererUnavailable) as caught:
        renderer.render_all([spec_of("7")])
    assert caught.value.exit_code is ExitCode.RENDERER
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


UPGRADED = """
import sys
sys.path.insert(0, sys.argv[1])
import upgraded
from streams.rendering import child
child.main()
"""


def test_a_child_of_an_installation_that_was_changed_under_the_worker_is_not_believed(new_renderer: NewRenderer, tmp_path: Path) -> None:
    installed = tmp_path / "upgraded.py"
    installed.write_text("")
    renderer = new_renderer()
    renderer.command = (sys.executable, "-c", UPGRADED, str(tmp_path))
    renderer.start()
    installed.write_text("from processors.images import png\npng.crc32 = lambda _: 0\n")
    assert codes(renderer.render_all(good(1))) == ["rendered"]
    assert renderer.pid is not None
    os.kill(renderer.pid, signal.SIGKILL)
    wait_until(lambda: renderer.pid is None, 10, "the child has ended")
    with pytest.raises(RendererUnfit, match=r"^golden vector 1 of profile qr-1 \(png, version 1\) has another file; this worker must not join: ") as caught:
        renderer.render_all(good(1))
    assert caught.value.exit_code is ExitCode.OTHER_BYTES


PARENT = """
import sys
from pathlib import Path
from streams.rendering.renderer import Renderer
from streams.settings import load_settings
from tests.support.renders import spec_of
from tests.support import deadly_render_child

renderer = Renderer(load_settings(render_bound=float(sys.argv[2])))
renderer.command = deadly_render_child.command(Path(sys.argv[1]), *sys.argv[4:])
renderer.start()
print(renderer.pid, flush=True)
if sys.argv[3] == "rendering":
    renderer.render_all([spec_of("DIE:LOOP")])
else:
    sys.stdin.read()
"""


@linux
@pytest.mark.parametrize(
    ("doing", "bound", "options"),
    [("idle", 60, []), ("rendering", 60, []), ("idle", 60, ["elsewhere"]), ("rendering", 1, ["elsewhere"])],
    ids=["idle", "rendering", "idle-by-its-socket", "rendering-by-its-alarm"],
)
def test_kill_minus_nine_of_the_worker_ends_the_child(tmp_path: Path, doing: str, bound: float, options: list[str]) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), str(bound), doing, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        if doing == "rendering":
            wait_until(lambda: list(tmp_path.glob("?" * 64)), 30, "the endless render has begun")
        assert not gone(child)
        parent.kill()
    wait_until(lambda: gone(child), 20, "the child has ended")


def test_faults_crash_chosen_hashes_for_as_many_tries_as_asked(new_renderer: NewRenderer) -> None:
    chosen, other = spec_of("1"), spec_of("2")
    prefix = content_hash(chosen)[:12]
    renderer = new_renderer(fault_render_crash="exit", fault_render_hashes=prefix, fault_render_tries=2)
    with capture_logs() as logs:
        assert codes(renderer.render_all([chosen, other])) == ["rendered", "rendered"]
    assert [line["tries"] for line in logs if line["event"] == "renderer_died"] == [1, 2]
    always = new_renderer(fault_render_crash="exit", fault_render_hashes=prefix)
    assert codes(always.render_all([chosen, other], deaths=[2, 2])) == ["renderer_crash", "rendered"]


@pytest.mark.parametrize(("crash", "code"), [("segfault", "renderer_crash"), ("memory", "renderer_crash"), ("loop", "render_timeout")])
def test_each_kind_of_injected_crash_ends_as_a_real_one(new_renderer: NewRenderer, crash: str, code: str) -> None:
    renderer = new_renderer(fault_render_crash=crash, render_bound=1.0 if crash == "loop" else 3.0)
    assert codes(renderer.render_all([spec_of("1")], deaths=[2])) == [code]


def test_an_injected_slowness_beyond_the_bound_times_out(new_renderer: NewRenderer) -> None:
    renderer = new_renderer(fault_render_seconds=60, fault_render_hashes=content_hash(spec_of("1"))[:12], render_bound=1.0)
    assert codes(renderer.render_all([spec_of("1"), spec_of("2")])) == ["render_timeout", "rendered"]
