"""The worker with faults that a test asks for: python -m tests.support.faulty_worker TRACE [options]

The product has no hooks for this. Its functions are wrapped here by name, and a name that is gone ends the
process with an AttributeError, so that a test can't pass because its fault was never made. Every process traces
what it takes, skips, restores and encodes (tests/support/trace.py).

A step is where a crash or pause happens: 1 after taking, 2 after deciding, 3 right before the transaction is asked
for, "4-open" in the committing thread before the transaction begins, "4-begun" with its records on the broker and
not committed, 4 after the commit, 5 after the local rows, 6 after acknowledging. Faults and the trace are of one
agent, the render agent unless `--agent intake` asks for the other.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import faulty_render_child
from tests.support.process_ties import die_with_the_parent
from tests.support.trace import TraceWriter

STEPS = ("1", "2", "3", "4-open", "4-begun", "4", "5", "6")
GUARDS = ("fencing", "position", "continuity", "markers", "claims", "read_committed")
SOURCES = {"render": "render.requested", "intake": "render.intake"}
CHANGELOGS = {"render": "-renders-changelog", "intake": "-claims-changelog"}
CRASHED = 137
"""Exit code of a crash made here: what a shell shows for kill -9."""


@dataclass
class Fault:
    """Crashes or stops this process when a step is reached for the nth time."""

    trace: TraceWriter
    step: str | None
    nth: int
    stop: bool
    _count: Any = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reached(self, step: str) -> None:
        """Called at every step of every batch."""
        if step != self.step:
            return
        with self._lock:
            if next(self._count) != self.nth:
                return
            self.trace.write("paused" if self.stop else "crashed", step=step)
            if not self.stop:
                os._exit(CRASHED)
            # To this thread: it stops before the next instruction. A signal to the process is taken by its main
            # thread, and this one would run on until that has been scheduled.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        self.trace.write("resumed", step=step)


def main() -> None:
    """Wrap, then run the worker as `qrstream worker` does."""
    options = _options()
    die_with_the_parent()
    trace = TraceWriter(options.trace)
    step = options.crash_after or options.pause_in
    fault = Fault(trace, step, options.nth, stop=options.pause_in is not None)
    trace_everything(trace, options.agent)
    make_steps(fault, options.agent)
    for guard in options.without:
        REMOVALS[guard]()
    if options.skip_delivery:
        skip_one_delivery(trace, options.skip_delivery)
    slow_down(options.slow_fence, options.slow_restore)
    importlib.import_module("streams.rendering.renderer").Renderer.command = faulty_render_child.command(
        options.trace, options.slow_render, *(["other-bytes"] if options.other_bytes else [])
    )
    if options.failing_render:
        fail_renders(options.failing_render)
    if options.request_timeout:
        importlib.import_module("streams.faust_app.app").app.conf.broker_request_timeout = options.request_timeout
    from streams.faust_app.worker import run_worker  # noqa: PLC0415 - after the wrapping
    from streams.settings import process_settings  # noqa: PLC0415

    run_worker(process_settings())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", type=Path)
    parser.add_argument("--agent", choices=tuple(SOURCES), default="render", help="whose steps are traced and disturbed")
    parser.add_argument("--crash-after", choices=STEPS)
    parser.add_argument("--pause-in", choices=STEPS)
    parser.add_argument("--nth", type=int, default=1, help="which passing of the step it is")
    parser.add_argument("--without", choices=GUARDS, action="append", default=[])
    parser.add_argument("--skip-delivery", type=int, default=0, help="lose this fetched record on its way to Faust, once")
    parser.add_argument("--slow-fence", type=float, default=0, help="seconds")
    parser.add_argument("--slow-restore", type=float, default=0, help="seconds")
    parser.add_argument("--slow-render", type=float, default=0, help="seconds per render")
    parser.add_argument("--other-bytes", action="store_true", help="its images have other bytes than those of the profile")
    parser.add_argument("--failing-render", help="every render fails with this code")
    parser.add_argument("--request-timeout", type=float, default=0, help="Faust's broker_request_timeout, seconds")
    return parser.parse_args()


def wrap(owner: Any, name: str, around: Callable[..., Any]) -> None:
    """Replace `owner.name` by `around(original, *arguments)`."""
    original = getattr(owner, name)
    setattr(owner, name, lambda *args, **kwargs: around(original, *args, **kwargs))


def wrap_async(owner: Any, name: str, around: Callable[..., Any]) -> None:
    """The same for a coroutine function."""
    original = getattr(owner, name)

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        return await around(original, *args, **kwargs)

    setattr(owner, name, wrapped)


def decider_of(agent: str) -> Any:
    """The class that decides an agent's events."""
    if agent == "render":
        return importlib.import_module("streams.deciding.carry_out").Decider
    return importlib.import_module("streams.intake.decider").IntakeDecider


def trace_everything(trace: TraceWriter, of: str) -> None:  # noqa: C901 - eight independent wrappers, one after the other
    """Offsets taken, redelivered and abandoned; rows restored; partitions opened; calls of the encoder."""

    agent = importlib.import_module("streams.faust_app.agents.flow")
    batch_decider, decider_class = importlib.import_module("streams.deciding.batch_decider"), decider_of(of)
    ownership = importlib.import_module("streams.ownership.ownership")
    abandoned = importlib.import_module("streams.ownership.errors").Abandoned
    redelivered = batch_decider.Placement.REDELIVERED
    here = threading.local()

    def take(original: Any, *args: Any) -> Any:
        taken = original(*args)
        if taken[0].message.topic.endswith(SOURCES[of]):
            trace.write("taken", partition=taken[0].message.partition, offsets=[event.message.offset for event in taken])
        return taken

    async def carried_out(original: Any, taken: Any, decider: Any) -> Any:
        try:
            return await original(taken, decider)
        except abandoned:
            if taken[0].message.topic.endswith(SOURCES[of]):
                trace.write("abandoned", partition=taken[0].message.partition, offsets=[event.message.offset for event in taken])
            raise

    def decide_events(original: Any, decider: Any, events: Any, batch: Any, claim: Any, *rest: Any) -> Any:
        here.partition = claim.partition
        try:
            return original(decider, events, batch, claim, *rest)
        finally:
            del here.partition

    def placement(original: Any, offset: int, *rest: Any) -> Any:
        where = original(offset, *rest)
        if where is redelivered and hasattr(here, "partition"):
            trace.write("redelivered", partition=here.partition, offsets=[offset])
        return where

    def restore(original: Any, settings: Any, rows: Any, topic: str, partition: int, *rest: Any) -> Any:
        restored = original(settings, rows, topic, partition, *rest)
        if topic.endswith(CHANGELOGS[of]):
            trace.write("restored", partition=partition, rows=restored.records, full_because=restored.full_because)
        return restored

    def opened(original: Any, owner: Any, position: int, *rest: Any) -> Any:
        original(owner, position, *rest)
        if owner.claim.agent == of:
            trace.write("opened", partition=owner.claim.partition, generation=owner.claim.generation, position=position)

    def published(original: Any, owner: Any, batch: Any) -> Any:
        if owner.claim.agent != of:
            return original(owner, batch)
        trace.write("publishing", partition=owner.claim.partition, generation=owner.claim.generation, position=batch.position)
        offset = original(owner, batch)
        trace.write("published", partition=owner.claim.partition, generation=owner.claim.generation, position=batch.position)
        return offset

    wrap(agent, "take", take)
    wrap_async(agent, "carry_out", carried_out)
    wrap(decider_class, "decide_events", decide_events)
    wrap(batch_decider, "placement", placement)
    wrap(ownership, "restore", restore)
    wrap(ownership.Ownership, "open", opened)
    wrap(ownership.Ownership, "publish", published)


def make_steps(fault: Fault, of: str) -> None:  # noqa: C901 - seven independent wrappers, one after the other
    """Put the fault behind (or before, see the module) each step."""
    agent = importlib.import_module("streams.faust_app.agents.flow")
    decider = decider_of(of)
    ownership = importlib.import_module("streams.ownership.ownership").Ownership
    producer = importlib.import_module("streams.ownership.transaction").TransactionalProducer

    here = threading.local()

    def after_take(original: Any, first: Any, *args: Any) -> Any:
        taken = original(first, *args)
        if first.message.topic.endswith(SOURCES[of]):
            fault.reached("1")
        return taken

    def after_deciding(original: Any, *args: Any) -> Any:
        decided = original(*args)
        fault.reached("2")
        return decided

    def before_commit(original: Any, owner: Any, *args: Any) -> Any:
        if owner.claim.agent == of:
            fault.reached("3")
        return original(owner, *args)

    def around_publish(original: Any, owner: Any, batch: Any, *args: Any) -> Any:
        # Not a sweep of expired rows, which has no event's outcome in it and may come at any time.
        here.disturbed = owner.claim.agent == of and bool(batch.records)
        if not here.disturbed:
            return original(owner, batch, *args)
        fault.reached("4-open")
        result = original(owner, batch, *args)
        fault.reached("4")
        return result

    def before_kafka_commit(original: Any, transactional: Any) -> Any:
        if not here.disturbed:
            return original(transactional)
        if fault.step == "4-begun":
            transactional._producer.flush()
        fault.reached("4-begun")
        return original(transactional)

    def after_local_rows(original: Any, owner: Any, *args: Any) -> Any:
        original(owner, *args)
        if owner.claim.agent == of:
            fault.reached("5")

    async def after_acknowledge(original: Any, events: Any, first: Any) -> Any:
        await original(events, first)
        if first.message.topic.endswith(SOURCES[of]):
            fault.reached("6")

    wrap(agent, "take", after_take)
    wrap(decider, "decide_batch", after_deciding)
    wrap(ownership, "commit", before_commit)
    wrap(ownership, "publish", around_publish)
    wrap(producer, "_commit", before_kafka_commit)
    wrap(ownership, "write_locally", after_local_rows)
    wrap_async(agent, "acknowledge", after_acknowledge)


def without_fencing() -> None:
    """A transactional id that no other process has."""
    claim = importlib.import_module("streams.ownership.ownership").Claim
    wrap(claim, "transactional_id", lambda original, *args: f"{original(*args)}-{os.getpid()}")


def without_position() -> None:
    """What lies below the position is decided again."""
    decide_in_spite_of("REDELIVERED")


def without_continuity() -> None:
    """What lies beyond a gap is decided."""
    decide_in_spite_of("SKIPPED")


def decide_in_spite_of(name: str) -> None:
    """Take what is placed so for the next event."""
    batch_decider = importlib.import_module("streams.deciding.batch_decider")
    refused, following = batch_decider.Placement[name], batch_decider.Placement.NEXT

    def around(original: Any, *args: Any) -> Any:
        where = original(*args)
        return following if where is refused else where

    wrap(batch_decider, "placement", around)


def without_markers() -> None:
    """No request has been seen before."""
    step = importlib.import_module("streams.deciding.step").Step
    wrap(step, "read_marker", lambda _original, _step: None)


def without_claims() -> None:
    """No idempotency key has been seen before."""
    decider = importlib.import_module("streams.intake.decider").IntakeDecider
    wrap(decider, "read_claim", lambda _original, *_: None)


def without_read_committed() -> None:
    """Restores see rows of aborted transactions."""
    restore = importlib.import_module("streams.ownership.restore")
    original = restore.kafka_clients.consumer
    restore.kafka_clients.consumer = lambda *args, **kwargs: {**original(*args, **kwargs), "isolation.level": "read_uncommitted"}


REMOVALS: dict[str, Callable[[], None]] = {
    "fencing": without_fencing,
    "position": without_position,
    "continuity": without_continuity,
    "markers": without_markers,
    "claims": without_claims,
    "read_committed": without_read_committed,
}


def skip_one_delivery(trace: TraceWriter, nth: int) -> None:
    """Lose the nth fetched record between aiokafka and Faust, once, if another follows it in the same fetch."""
    thread = importlib.import_module("streams.faust_app.seams.transport").ConsumerThread
    state = {"left": nth}

    async def around(original: Any, *args: Any, **kwargs: Any) -> Any:
        fetched = await original(*args, **kwargs)
        for tp, records in fetched.items():
            if state["left"] > 0:
                state["left"] -= len(records)
                if state["left"] <= 0 and len(records) > 1:
                    lost = records.pop(len(records) // 2 - 1)
                    trace.write("lost", partition=tp.partition, offsets=[lost.record.offset])
                elif state["left"] <= 0:
                    state["left"] = 1
        return fetched

    wrap_async(thread, "_fetch_records", around)


def slow_down(fence_s: float, restore_s: float) -> None:
    """Make fencing or restoring take longer; all run in threads, as a slow broker would make them wait."""
    ownership = importlib.import_module("streams.ownership.ownership")

    def slow(seconds: float) -> Callable[..., Any]:
        def around(original: Any, *args: Any) -> Any:
            time.sleep(seconds)
            return original(*args)

        return around

    if fence_s:
        wrap(ownership.Ownership, "fence", slow(fence_s))
    if restore_s:
        wrap(ownership, "restore", slow(restore_s))


def fail_renders(code: str) -> None:
    """No render succeeds, as with a renderer that is broken."""
    error_of = importlib.import_module("processors.errors").error_of

    def fail(_original: Any, _renderer: Any, specs: Any, **_kwargs: Any) -> Any:
        return [error_of(code) for _ in specs]

    wrap(importlib.import_module("streams.rendering.renderer").Renderer, "render_all", fail)


if __name__ == "__main__":
    main()
