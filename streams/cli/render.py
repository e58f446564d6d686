"""``qrstream render``: one symbol, here and now; the same checks, codes and bytes as the stream."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from processors.errors import RenderError
    from processors.render import Rendered
    from processors.spec import RenderSpec
    from processors.verify import ScanPolicy
    from schemas.events import RenderRequested

EPILOG = """\b
Examples:
  qrstream render 'https://example.com'                          drawn in the terminal
  qrstream render 'https://example.com' -o code.png
  qrstream render 'https://example.com' -o code.svg              format from the name
  qrstream render Hello --size 400 --light transparent -o - > hello.png
  qrstream render --type wifi ssid='Blue Door' password='milk;sugar' -o code.png
  qrstream render --request one.jsonl -o code.png
  qrstream render --request many.jsonl -o symbols/               named by content hash
  qrstream render Hello --dark '#999' --report                   how well it can be read, what it can lose
  qrstream render --request many.jsonl -o symbols/ --strict      refuse what may keep a reader from it
  qrstream render -- -5                                          text that begins with a dash

\b
Nothing is sent to Kafka. The bytes are those that the stream makes of the same request.

\b
Exit codes: 0 all rendered, 1 a request was refused (the code says why), 2 wrong arguments, 64 a wrong setting.
"""

def render(
    words: Annotated[list[str] | None, typer.Argument(metavar="TEXT | FIELD=VALUE", help="What the symbol says, exactly; with --type, the fields of the type.", show_default=False)] = None,
    content_type: Annotated[str | None, typer.Option("--type", "-t", metavar="TYPE", help="A content type: wifi, vcard, …; `qrstream content-types` has them.", show_default=False)] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write; - is standard output. Without it the symbol is drawn.", show_default=False)] = None,
    request: Annotated[Path | None, typer.Option("--request", metavar="FILE", help="Requests as JSON Lines instead of TEXT; - is standard input.", show_default=False)] = None,
    format_: Annotated[str | None, typer.Option("--format", "-f", help="png, svg, pdf, eps or txt; by default from the name of -o, else png.", show_default=False)] = None,
    error_correction: Annotated[str | None, typer.Option("--error-correction", "-e", metavar="L|M|Q|H", help="Level, m by default.", show_default=False)] = None,
    boost: Annotated[bool | None, typer.Option("--boost/--no-boost", help="A higher level where it costs no space (default).", show_default=False)] = None,
    scale: Annotated[float | None, typer.Option("--scale", help="Pixels per module, 8 by default.", show_default=False)] = None,
    size: Annotated[float | None, typer.Option("--size", help="Pixels of the whole side, instead of --scale.", show_default=False)] = None,
    margin: Annotated[float | None, typer.Option("--margin", help="Modules of light border, 4 by default.", show_default=False)] = None,
    dark: Annotated[str | None, typer.Option("--dark", metavar="COLOUR", help="#rgb, #rrggbb or transparent.", show_default=False)] = None,
    light: Annotated[str | None, typer.Option("--light", metavar="COLOUR", help="#rgb, #rrggbb or transparent.", show_default=False)] = None,
    report: Annotated[bool, typer.Option("--report", help="Tell how the symbol was read back, its warnings, and how many modules it can lose.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a symbol with scan warnings, as QR_SCAN_POLICY=refuse does.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was made as one JSON object a request.")] = False,
) -> None:
    """Render a symbol here and now, without Kafka.

    TEXT, or with --type what its fields stand for, is drawn in the terminal, or written to -o FILE; --request takes a file of requests.
    """
    from streams.cli.failure import CommandFailed
    from streams.cli.files import STANDARD, open_lines
    from streams.exit_codes import ExitCode
    from streams.request_lines import read_lines

    options = {
        "format": format_, "error_correction": error_correction, "boost": boost, "scale": scale, "size": size,
        "margin": margin, "dark": dark, "light": light,
    }
    given = {name: value for name, value in options.items() if value is not None}
    if (bool(words) or content_type is not None) == (request is not None):
        raise CommandFailed(ExitCode.USAGE, "give TEXT or --request FILE, one of them; `qrstream render --help` has examples")
    if as_json and output == STANDARD:
        raise CommandFailed(ExitCode.USAGE, "--json and -o - both want standard output; leave one out")
    if report and output == STANDARD:
        raise CommandFailed(ExitCode.USAGE, "--report and -o - both want standard output; leave one out")
    if request is not None:
        if given:
            raise CommandFailed(ExitCode.USAGE, f"--{next(iter(given)).replace('_', '-')} is for TEXT; with --request it is a member of the request")
        with open_lines(request) as file:
            lines = list(read_lines(file))
        if not lines:
            raise CommandFailed(ExitCode.USAGE, f"{request} has no request; one JSON object a line is read")
    else:
        lines = [(1, _request_of(_content(words or [], content_type), given, output))]
    place = _Place(output, len(lines))
    how = _How(_policy(strict=strict), report=report, as_json=as_json)
    failures = 0
    for number, read in lines:
        failures += not _render_one(read, place, how, line=None if request is None else number)
    if failures:
        raise typer.Exit(ExitCode.INCOMPLETE)


@dataclass(frozen=True, slots=True)
class _How:
    """What is asked of every request: what is done about scan warnings, and what is told."""

    policy: ScanPolicy
    report: bool
    as_json: bool


def _policy(*, strict: bool) -> ScanPolicy:
    from processors.verify import ScanPolicy
    from streams.settings import load_settings

    return ScanPolicy.REFUSE if strict else ScanPolicy(load_settings().scan_policy)


class _Place:
    """Where artifacts go: one file, a folder of them, or nowhere."""

    def __init__(self, output: Path | None, count: int) -> None:
        from streams.cli.failure import CommandFailed
        from streams.cli.files import STANDARD
        from streams.exit_codes import ExitCode

        self._output = output
        self._folder = output is not None and output.is_dir()
        if output is not None and not self._folder and count > 1:
            if output == STANDARD or output.suffix:
                raise CommandFailed(ExitCode.USAGE, f"{count} requests do not fit in one file; name a folder with -o, for files named by content hash")
            try:
                output.mkdir(parents=True)
            except OSError as exc:
                raise CommandFailed(ExitCode.USAGE, f"folder {output} cannot be made: {exc.strerror}; choose another place with -o") from exc
            self._folder = True

    def write(self, content_hash: str, extension: str, artifact: bytes) -> Path | None:
        """Write one artifact; its file, or None when it is not to be written."""
        from streams.cli.files import write_whole

        if self._output is None:
            return None
        file = self._output / f"{content_hash}.{extension}" if self._folder else self._output
        write_whole(file, artifact)
        return file


def _content(words: list[str], content_type: str | None) -> str | bytes:
    """The TEXT, or what the fields of a type stand for."""
    from streams.cli.failure import CommandFailed
    from streams.cli.payload_words import content_of_words
    from streams.exit_codes import ExitCode

    if content_type is not None:
        return content_of_words(content_type, words)
    if len(words) > 1:
        raise CommandFailed(ExitCode.USAGE, f"TEXT is one word, not {len(words)}; put it in quotes, or say with --type what FIELD=VALUE belongs to")
    return words[0]


def _request_of(text: str | bytes, given: dict[str, Any], output: Path | None) -> RenderRequested:
    import time

    from processors.images.formats import FORMATS
    from schemas.events import RenderRequested

    for colour in ("dark", "light"):
        if given.get(colour) == "transparent":
            given[colour] = None
    suffix = output.suffix[1:].lower() if output is not None else ""
    if "format" not in given and suffix in FORMATS:
        given["format"] = suffix
    return RenderRequested(request_id="render", requested_at=time.time_ns() // 1_000_000, content=text, **given)


def _render_one(read: RenderRequested | RenderError, place: _Place, how: _How, *, line: int | None) -> bool:
    """Render one request and show it; False when it was refused, which is said."""
    from processors.canonical import content_hash
    from processors.errors import RenderError
    from processors.render import render as make
    from processors.spec import validate
    from streams.cli.failure import say_error

    try:
        if isinstance(read, RenderError):
            raise read
        spec = validate(read)
        _check_deadline(read)
        rendered = make(spec, how.policy)
    except RenderError as error:
        say_error(error.code, error.message if line is None else f"line {line}: {error.message}")
        return False
    name = content_hash(spec)
    file = place.write(name, spec.format, rendered.artifact)
    _tell(spec, name, rendered, file, how)
    return True


def _check_deadline(request: RenderRequested) -> None:
    import time

    from processors.errors import StreamRefused

    if request.deadline is not None and time.time_ns() // 1_000_000 > request.deadline:
        raise StreamRefused("deadline_exceeded")


def _tell(spec: RenderSpec, name: str, rendered: Rendered, file: Path | None, how: _How) -> None:
    from hashlib import sha256

    from processors.symbol import make_symbol
    from streams.cli.drawing import print_symbol
    from streams.cli.files import STANDARD
    from streams.cli.output import plain, print_json
    from streams.cli.render_report import damage_of, report_lines, report_members
    from streams.cli.words import shown_size

    if how.as_json:
        report = report_members(damage_of(spec)) if how.report else {}
        facts = {key: value for key, value in plain(rendered).items() if key != "artifact_base64"}
        print_json({
            "content_hash": name, "file": None if file is None else str(file), "format": spec.format,
            "size_bytes": len(rendered.artifact), "checksum": sha256(rendered.artifact).hexdigest(), **facts, **report,
        })
        return
    if file == STANDARD:
        return
    facts_line = f"{shown_size(len(rendered.artifact))} {spec.format}, version {rendered.version}-{rendered.error_correction.upper()}, content hash {name}"
    if file is None:
        print_symbol(make_symbol(spec).modules.tolist())
        print(facts_line)
    else:
        print(f"{file}: {facts_line}")
    if how.report:
        print(*report_lines(rendered, damage_of(spec)), sep="\n")
