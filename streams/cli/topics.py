"""``qrstream topics create|check``: make the declared topics, and see whether they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from streams.settings import Settings

EPILOG = """\b
Examples:
  qrstream topics create
  QR_PARTITIONS=64 QR_REPLICATION=3 QR_MODE=production qrstream topics create
  qrstream topics check --json

\b
Partitions are pinned when a topic is made: requested topics and changelogs have QR_PARTITIONS,
the others QR_OUTPUT_PARTITIONS. What is there already is left as it is.

\b
Exit codes: 0 they fit, 64 wrong settings, 65 no broker, 66 a topic is missing or does not fit.
"""

app = typer.Typer(help="Make the declared topics, and check that they fit.", no_args_is_help=True, rich_markup_mode=None)

_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("create", epilog=EPILOG)
def create(as_json: _Json = False) -> None:
    """Create the topics that are missing, then check all."""
    from streams import topic_admin
    from streams.settings import load_settings

    settings = load_settings()
    made = topic_admin.create(settings)
    _show(settings, made, as_json=as_json)


@app.command("check", epilog=EPILOG)
def check(as_json: _Json = False) -> None:
    """Check partitions and settings of every topic, and of the broker."""
    from streams.settings import load_settings

    _show(load_settings(), [], as_json=as_json)


def _show(settings: Settings, made: list[str], *, as_json: bool) -> None:
    from streams import topic_admin
    from streams.cli.failure import say, say_error
    from streams.cli.output import print_json
    from streams.exit_codes import ExitCode
    from streams.topics import TOPICS

    problems: list[str] = []
    warnings: list[str] = []
    try:
        warnings = topic_admin.check(settings)
    except topic_admin.TopicsUnfit as exc:
        problems = exc.problems
    rows = [
        {"topic": topic.full_name(settings), "partitions": topic.partition_count(settings), "created": topic.full_name(settings) in made, "key": topic.key, "value": topic.value}
        for topic in TOPICS
    ]
    if as_json:
        print_json({"topics": rows, "warnings": warnings, "problems": problems})
    elif not problems:
        width = max(len(str(row["topic"])) for row in rows)
        for row in rows:
            print(f"{row['topic']:<{width}}  {row['partitions']:>4} partitions  {'created' if row['created'] else 'fits'}")
    if warnings:
        say(f"warning: {'; '.join(warnings)}")
    for problem in problems:
        say_error("topics", problem)
    if problems:
        raise typer.Exit(ExitCode.TOPICS)
