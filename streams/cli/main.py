"""The entry point of ``qrstream``.

Commands import what they need when they run: ``--help`` needs neither Kafka nor a renderer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from streams.cli import (
    bench,
    config,
    content_types,
    delay,
    dlq,
    invalidate,
    publish,
    render,
    show,
    status,
    tail,
    topics,
    up,
    version,
    worker,
)
from streams.cli.failure import report
from streams.exit_codes import RESTARTABLE, ExitCode

_INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""


def _epilog() -> str:
    # \b keeps click from joining the lines into a paragraph.
    codes = "\n".join(f"  {code.value:>3}  {code.meaning}{' (restart)' if code in RESTARTABLE else ''}" for code in ExitCode)
    return (
        "\b\nFirst steps:\n"
        "  qrstream up examples/requests.jsonl      everything at once, until Ctrl-C\n"
        "  qrstream render 'Hello' -o hello.png     one symbol, no Kafka\n"
        "  qrstream config                          every setting, its variable and meaning\n"
        f"\n\b\nExit codes:\n{codes}"
    )


app = typer.Typer(
    name="qrstream",
    help="Render QR symbols exactly once: requests in, completed renders out, on Apache Kafka.",
    epilog=_epilog(),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command("up", epilog=up.EPILOG)(up.up)
app.command("worker", epilog=worker.EPILOG)(worker.worker)
app.command("delay", epilog=delay.EPILOG)(delay.delay)
app.add_typer(topics.app, name="topics")
app.command("publish", epilog=publish.EPILOG)(publish.publish)
app.command("tail", epilog=tail.EPILOG)(tail.tail)
app.command("show", epilog=show.EPILOG)(show.show)
app.command("status", epilog=status.EPILOG)(status.status)
app.command("invalidate", epilog=invalidate.EPILOG)(invalidate.invalidate)
app.add_typer(dlq.app, name="dlq")
app.command("render", epilog=render.EPILOG)(render.render)
app.command("content-types", epilog=content_types.EPILOG)(content_types.content_types)
app.add_typer(bench.app, name="bench")
app.command("config", epilog=config.EPILOG)(config.config)
app.command("version")(version.version)


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code; no exception gets out of here."""
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    try:
        result = typer.main.get_command(app).main(list(argv), prog_name="qrstream", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else int(exc.code is not None)
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has had enough (`qrstream tail completed | head`); nobody is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception as exc:  # noqa: BLE001 - the outer guard: one line instead of a traceback
        return report(exc)
    return result if isinstance(result, int) else ExitCode.OK


if __name__ == "__main__":
    main()
