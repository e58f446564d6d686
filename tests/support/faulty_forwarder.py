"""The forwarder with faults that a test asks for: python -m tests.support.faulty_forwarder TRACE [options]

As tests/support/faulty_worker.py: functions are wrapped by name, and a name that is gone ends the process.

A step is where a crash or pause happens: "due" before the transaction, "open" inside it with its records on the broker
and no offsets sent, "begun" with the offsets sent too, "committed" after the commit and before it is noted.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

from tests.support.faulty_worker import Fault, wrap
from tests.support.process_ties import die_with_the_parent
from tests.support.trace import TraceWriter

STEPS = ("due", "open", "begun", "committed")


def main() -> None:
    """Wrap, then run the forwarder as `qrstream delay` does."""
    options = _options()
    die_with_the_parent()
    trace = TraceWriter(options.trace)
    producer = importlib.import_module("streams.delay.transaction").ForwardingProducer
    if options.without_offsets:
        wrap(producer, "_send_offsets", lambda _original, *_args: None)
    step = options.crash_after or options.pause_in
    make_steps(producer, Fault(trace, step, options.nth, stop=options.pause_in is not None))
    trace_everything(trace, producer)
    if options.most_held:
        importlib.import_module("streams.delay.schedule").Schedule.__init__.__defaults__ = (options.most_held, options.most_held << 10)
    from streams.delay.run import run_delay  # noqa: PLC0415 - after the wrapping
    from streams.settings import process_settings  # noqa: PLC0415

    run_delay(process_settings())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", type=Path)
    parser.add_argument("--crash-after", choices=STEPS)
    parser.add_argument("--pause-in", choices=STEPS)
    parser.add_argument("--nth", type=int, default=1, help="which passing of the step it is")
    parser.add_argument("--without-offsets", action="store_true", help="commit transactions without the group's offsets")
    parser.add_argument("--most-held", type=int, default=0, help="records in memory over all partitions")
    return parser.parse_args()


def make_steps(producer: Any, fault: Fault) -> None:
    """Put the fault at each step of a transaction."""

    def forward(original: Any, *args: Any, **kwargs: Any) -> None:
        fault.reached("due")
        original(*args, **kwargs)
        fault.reached("committed")

    def before(step: str) -> Any:
        def around(original: Any, transactional: Any, *args: Any) -> Any:
            if fault.step == step:
                transactional._producer.flush()
            fault.reached(step)
            return original(transactional, *args)

        return around

    wrap(producer, "forward", forward)
    wrap(producer, "_send_offsets", before("open"))
    wrap(producer, "_commit", before("begun"))


def trace_everything(trace: TraceWriter, producer: Any) -> None:
    """Partitions assigned, revoked, paused and resumed; batches asked for and committed."""
    forwarder = importlib.import_module("streams.delay.forwarder").Forwarder
    schedule = importlib.import_module("streams.delay.schedule").Schedule

    def forward(original: Any, transactional: Any, batch: Any, *args: Any, **kwargs: Any) -> None:
        trace.write("forwarding", records=len(batch))
        original(transactional, batch, *args, **kwargs)
        trace.write("forwarded", records=len(batch))

    def rebalanced(event: str) -> Any:
        def around(original: Any, one: Any, consumer: Any, partitions: Any) -> None:
            trace.write(event, partitions=len(partitions))
            original(one, consumer, partitions)

        return around

    def moved(event: str) -> Any:
        def around(original: Any, one: Any) -> Any:
            places = original(one)
            if places:
                trace.write(event, partitions=len(places))
            return places

        return around

    wrap(producer, "forward", forward)
    wrap(forwarder, "_assigned", rebalanced("assigned"))
    wrap(forwarder, "_revoked", rebalanced("revoked"))
    wrap(schedule, "to_pause", moved("fetch_paused"))
    wrap(schedule, "to_resume", moved("fetch_resumed"))


if __name__ == "__main__":
    main()
