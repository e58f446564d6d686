"""``qrstream bench``: the figures of the stream, and of the renderer alone, on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """\b
Examples:
  qrstream bench pipeline
  qrstream bench pipeline --only latency --json
  QR_BROKER=127.0.0.1:9092 qrstream bench pipeline

\b
Measurements: machine (how fast a plain loop runs), cached-path and unique-path (outcomes a second), latency (at 200
requests a second), restart (after kill -9), many-hashes (memory and restore of 100,000 hashes),
many-partitions (64), delay (due records a second of the forwarder, and how late they are).
Each makes topics of its own names, which stay on a broker given by QR_BROKER; without QR_BROKER a
local broker is started in a temporary folder. Minutes in all; other work on the machine shows.

\b
Exit codes: 0 measured, 1 something did not happen that was to be measured, 2 no such measurement,
65 no broker.
"""

app = typer.Typer(help="Measure the stream on this machine.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def bench() -> None:
    """Measure the stream on this machine."""


@app.command("pipeline", epilog=EPILOG)
def pipeline(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    scale: Annotated[float, typer.Option("--scale", metavar="PART", min=0.001, max=1.0, help="Part of the requests and hashes: 0.1 for a tenth.")] = 1.0,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="NAME", help="One measurement; may be repeated.", show_default=False)] = None,
) -> None:
    """Measure throughput, latency, restart, restore, memory and delay."""
    import contextlib
    import tempfile
    from pathlib import Path

    from streams.bench.measurements import AIMS, MEASUREMENTS
    from streams.cli.failure import CommandFailed, say
    from streams.cli.output import print_json
    from streams.exit_codes import ExitCode
    from streams.local_broker import open_broker
    from streams.settings import load_settings

    names = only or list(MEASUREMENTS)
    for name in names:
        if name not in MEASUREMENTS:
            raise CommandFailed(ExitCode.USAGE, f"there is no measurement {name}; there are {', '.join(MEASUREMENTS)}")
    settings = load_settings()
    results: dict[str, dict[str, float | int]] = {}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="qrstream-bench-")))
        broker = stack.enter_context(open_broker(folder / "broker", address=settings.broker))
        for name in names:
            say(f"measuring {name} …")
            results[name] = {key: round(value, 2) for key, value in MEASUREMENTS[name](broker, folder, scale).items()}
            if not as_json:
                for key, value in results[name].items():
                    aim = AIMS.get((name, key))
                    print(f"{name:<16} {key:<26} {value:>14,}{f'   aim {aim}' if aim else ''}", flush=True)
    if as_json:
        print_json(results)


RENDER_EPILOG = """\b
Examples:
  qrstream bench render
  qrstream bench render --json

\b
A ratio is how many times longer segno takes for a symbol of that version (3, 10, 40) and its file at
scale 8. CPU time, contents that never repeat, segno and ours by turns. No broker is needed.

\b
Exit codes: 0 measured.
"""


@app.command("render", epilog=RENDER_EPILOG)
def render(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    scale: Annotated[float, typer.Option("--scale", metavar="PART", min=0.001, max=1.0, help="Part of the turns: 0.1 for a tenth.")] = 1.0,
) -> None:
    """Measure how fast a symbol and its file are made, beside segno."""
    from streams.bench.render import AIMS, measure
    from streams.cli.output import print_json

    figures = {name: round(value, 3) for name, value in measure(scale).items()}
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        print(f"{name:<18} {value:>12,}   aim {AIMS[name]}")
