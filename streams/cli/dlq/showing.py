"""``qrstream dlq show LETTER``: everything about one letter; its content only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.cli.dlq.options import Json

if TYPE_CHECKING:
    from schemas.events import DlqDisposition, RenderRequested
    from streams.dead_letters.dispositions import State
    from streams.dead_letters.received import ReceivedLetter
    from streams.settings import Settings

EPILOG = """\b
Examples:
  qrstream dlq show 3-17
  qrstream dlq show qr.render.dlq-3-17 --json
  qrstream dlq show 3-17 --content            with what the symbol says, and every byte

\b
Exit codes: 0 shown, 1 no such letter, 2 no name of a letter, 65 no broker, 66 no topic.
"""
_BYTES_A_LINE = 16


def show(
    name: Annotated[str, typer.Argument(metavar="LETTER", help="As `dlq list` shows it: 3-17, or <topic>-3-17.", show_default=False)],
    content: Annotated[bool, typer.Option("--content", help="Show the request's content and the bytes of the value, too.")] = False,
    as_json: Json = False,
) -> None:
    """Show everything about one letter."""
    from streams.cli.dlq.options import place
    from streams.cli.failure import CommandFailed
    from streams.cli.output import print_json
    from streams.dead_letters.dispositions import State, find_disposition
    from streams.dead_letters.export import plain_disposition, whole
    from streams.dead_letters.reading import read_one
    from streams.dead_letters.received import received
    from streams.dead_letters.source import own_value
    from streams.exit_codes import ExitCode
    from streams.settings import load_settings
    from streams.topic_reader import ensure_reachable
    from streams.topics import DEAD_LETTERS

    settings = load_settings()
    partition, offset = place(settings, name)
    topic = DEAD_LETTERS.full_name(settings)
    ensure_reachable(settings)
    message = read_one(settings, topic, partition, offset)
    if message is None:
        raise CommandFailed(ExitCode.INCOMPLETE, f"there is no letter {topic}-{partition}-{offset}; it was never there, or retention has deleted it", code="not_found")
    letter = received(message)
    disposition = find_disposition(settings, letter)
    state = State.open if disposition is None else State.replayed if disposition.action == "replayed" else State.discarded
    found = own_value(settings, letter)
    if as_json:
        value = whole(letter, state, found)
        print_json({**(value if content else {**value, "value_base64": None}), "disposition": plain_disposition(disposition), "content_shown": content})
        return
    _print(settings, letter, state, disposition, found if letter.value_left_out else letter.value, content=content)


def _print(settings: Settings, letter: ReceivedLetter, state: State, disposition: DlqDisposition | None, value: bytes | None, *, content: bool) -> None:
    from streams.cli.words import counted

    facts = letter.facts
    _line("letter", f"{letter.name}, {state.name}")
    _line("failed", f"{_instant(letter.failed_at)}, first {_instant(letter.number('first-failure'))}")
    _line("tried", f"{counted(letter.number('attempts') or 0, 'time')}; replay generation {facts.get('generation', '-')}")
    _line("reason", f"{facts.get('reason', '-')} ({facts.get('class', '-')}): {facts.get('message', '-')}")
    _line("hash", facts.get("content-hash", "- (no canonical form)"))
    _line("request", f"{facts.get('request-id', '-')}, tenant {facts.get('tenant', '-')}, idempotency key {facts.get('idempotency-key', '-')}")
    _line("source", f"{facts.get('source-topic', '-')}, partition {facts.get('source-partition', '-')}, offset {facts.get('source-offset', '-')}")
    _line("key", "none" if letter.key is None else _shown(letter.key))
    for number, (header, held) in enumerate(letter.headers):
        _line("" if number else "headers", f"{header}: {'null' if held is None else _shown(held)}")
    _value(settings, letter, value, content=content)
    if disposition is not None:
        where = f" to {disposition.target_topic}, partition {disposition.target_partition}" if disposition.target_topic else ""
        _line("settled", f"{disposition.action} by {disposition.who} on {_instant(disposition.decided_at)}{where}, generation {disposition.generation}{', with a repaired key' if disposition.key_repaired else ''}")
        _line("why", disposition.why or "-")


def _value(settings: Settings, letter: ReceivedLetter, value: bytes | None, *, content: bool) -> None:
    from schemas.codec import UndecodableError
    from schemas.errors import RegistryError
    from schemas.events import RenderRequested
    from streams.cli.words import shown_size
    from streams.event_codec import event_codec

    if value is None:
        _line("value", f"left out; {facts_of_left_out(letter)}; its source no longer has it" if letter.value_left_out else "none (null)")
        return
    _line("value", f"{shown_size(len(value))}, {_framing(value)}{', read from its source' if letter.value_left_out else ''}")
    try:
        request = event_codec(settings).decode(value, RenderRequested)
    except UndecodableError as exc:
        _line("", f"no RenderRequested: {exc.reason}")
    except RegistryError as exc:
        _line("", f"not decoded: {exc}")
    else:
        _request(request, content=content)
    if content:
        for at in range(0, len(value), _BYTES_A_LINE):
            piece = value[at : at + _BYTES_A_LINE]
            text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in piece)  # noqa: PLR2004  # printable ASCII
            print(f"  {at:08x}  {piece.hex(' '):<{3 * _BYTES_A_LINE - 1}}  {text}")


def facts_of_left_out(letter: ReceivedLetter) -> str:
    """Length and checksum of a value that the dead letters had no room for."""
    return f"{letter.number('content-length') or 0:,} bytes, SHA-256 {letter.facts['value-sha256']}"


def _request(request: RenderRequested, *, content: bool) -> None:
    import dataclasses

    for field in dataclasses.fields(request):
        held: Any = getattr(request, field.name)
        if field.name == "content" and not content:
            unit = "bytes" if isinstance(held, bytes) else "characters"
            held = f"{len(held):,} {unit}, not shown; --content shows them"
        elif isinstance(held, bytes | str):
            held = ascii(held)
        _line("", f"  {field.name} {held}")


def _framing(value: bytes) -> str:
    """How the value begins, as far as that is no content."""
    if value.startswith(b"\xc3\x01") and len(value) >= 10:  # noqa: PLR2004  # marker and fingerprint
        return f"single-object encoding of schema {value[2:10].hex()}"
    if value.startswith(b"\x00") and len(value) >= 5:  # noqa: PLR2004  # marker and id
        return f"registry's wire format, schema id {int.from_bytes(value[1:5])}"
    return "in neither framing that is read"


def _shown(raw: bytes) -> str:
    """Text where it is text, else its bytes."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return f"0x{raw.hex()}"
    return text if text.isprintable() else f"0x{raw.hex()}"


def _instant(milliseconds: int | None) -> str:
    from streams.cli.words import instant

    if milliseconds is None:
        return "-"
    try:
        return instant(milliseconds)
    except (ValueError, OverflowError, OSError):  # a stranger's number is no reason to end
        return str(milliseconds)


def _line(subject: str, text: str) -> None:
    from streams.cli.dlq.table import printable, showable

    print(showable(f"{subject:<9} {printable(text)}"))
