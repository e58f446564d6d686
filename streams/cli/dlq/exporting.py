"""``qrstream dlq export``: keep letters elsewhere, whole, whether or not anybody can decode them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from streams.cli.dlq.options import All, Letters, Reasons, Since, Tenants, Until
from streams.cli.files import STANDARD

if TYPE_CHECKING:

    from streams.dead_letters.dispositions import State
    from streams.dead_letters.received import ReceivedLetter

EPILOG = """\b
Examples:
  qrstream dlq export -o letters.jsonl                    all open letters
  qrstream dlq export --reason undecodable --folder poison
  qrstream dlq export 3-17 | jq -r .value_base64 | base64 -d > value.bin

\b
JSON Lines: everything about a letter, key, value and header values as base64. A folder gets two
files a letter: <letter>.json, and <letter>.value with the bytes as they are. A value that the
dead letters had no room for is read from its source; where that no longer has it, value_missing
is true, a line on stderr says so, and the exit code is 1. Nothing is removed or changed.

\b
Exit codes: 0 done, 1 a letter or a value is not there any more, 2 wrong options, 65 no broker, 66 no topic.
"""


def export(
    letters: Letters = None, reason: Reasons = None, tenant: Tenants = None, since: Since = None, until: Until = None, everything: All = False,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="JSON Lines; - is standard output.")] = STANDARD,
    folder: Annotated[Path | None, typer.Option("--folder", metavar="DIR", help="Two files a letter, made here.", show_default=False)] = None,
) -> None:
    """Write letters out, whole."""
    from streams.cli.dlq.naming import say_missing
    from streams.cli.dlq.options import selection_of
    from streams.cli.dlq.showing import facts_of_left_out
    from streams.cli.failure import CommandFailed, say, say_error
    from streams.cli.words import counted
    from streams.dead_letters.choosing import letters_with_state, look
    from streams.dead_letters.source import own_value
    from streams.exit_codes import ExitCode
    from streams.settings import load_settings

    if folder is not None and output != STANDARD:
        raise CommandFailed(ExitCode.USAGE, "--folder and --output both want the letters; leave one out")
    settings = load_settings()
    scope = look(settings, selection_of(settings, letters, reason, tenant, since, until, settled=everything or bool(letters)))
    seen: set[tuple[int, int]] = set()
    written = gone = 0
    with _folder(folder) if folder is not None else _lines(output) as write:
        for letter, state in letters_with_state(settings, scope):
            found = own_value(settings, letter)
            write(letter, state, found)
            written += 1
            if scope.selection.places is not None:
                seen.add((letter.partition, letter.offset))
            if letter.value_left_out and found is None:
                gone += 1
                say_error("value_gone", f"{letter.name}: its source no longer has the value ({facts_of_left_out(letter)}); everything else is exported")
    missing = say_missing(settings, scope, seen)
    say(f"{counted(written, 'letter')} exported to {folder or ('standard output' if output == STANDARD else output)}")
    if gone or missing:
        raise typer.Exit(ExitCode.INCOMPLETE)


@contextlib.contextmanager
def _lines(file: Path) -> Iterator[Any]:
    """Writes JSON Lines: to a file that appears whole or not at all, or to standard output as they come."""
    from streams.cli.failure import CommandFailed
    from streams.cli.output import print_json
    from streams.dead_letters.export import whole
    from streams.exit_codes import ExitCode

    if file == STANDARD:
        yield lambda letter, state, found: print_json(whole(letter, state, found))
        return
    try:
        with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name[:100]}-", encoding="ascii", delete=False) as unfinished:
            try:
                yield _line_writer(unfinished)
            except BaseException:
                Path(unfinished.name).unlink(missing_ok=True)
                raise
        Path(unfinished.name).replace(file)  # readable for its owner alone: contents are in it
    except OSError as exc:
        raise CommandFailed(ExitCode.USAGE, f"{file} cannot be written: {exc.strerror}; choose another place with -o") from exc


def _line_writer(out: TextIO | Any) -> Any:
    import json

    from streams.dead_letters.export import whole

    return lambda letter, state, found: out.write(json.dumps(whole(letter, state, found)) + "\n")


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[Any]:
    """Writes two files a letter."""
    import json

    from streams.cli.failure import CommandFailed
    from streams.cli.files import write_whole
    from streams.dead_letters.export import whole
    from streams.exit_codes import ExitCode

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise CommandFailed(ExitCode.USAGE, f"{folder} cannot be made: {exc.strerror}; choose another place with --folder") from exc

    def write(letter: ReceivedLetter, state: State, found: bytes | None) -> None:
        said = whole(letter, state, found)
        value = found if letter.value_left_out else letter.value
        del said["value_base64"]
        if value is not None:
            write_whole(folder / f"{letter.name}.value", value)
        write_whole(folder / f"{letter.name}.json", json.dumps(said, indent=2).encode() + b"\n")

    yield write
