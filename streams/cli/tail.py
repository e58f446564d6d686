"""``qrstream tail completed|failed|dlq``: read what the stream publishes, read_committed."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from confluent_kafka import Message

    from schemas.codec import Codec

EPILOG = """\b
Examples:
  qrstream tail completed                                    what comes from now on, until Ctrl-C
  qrstream tail failed --from-beginning --until-idle 2       everything there is
  qrstream tail completed --json --until-idle 5 | jq -r .content_hash
  qrstream tail dlq --json --from-beginning --until-idle 2   dead letters, bytes as base64

\b
Only committed records are shown: each request has exactly one outcome here. Times in JSON are
milliseconds since 1970 UTC; bytes have _base64 behind their name.

\b
Exit codes: 0 idle for --until-idle seconds or stopped, 65 no broker, 66 no topic.
"""


class Which(StrEnum):
    """What can be tailed."""

    completed = "completed"
    failed = "failed"
    dlq = "dlq"


def tail(
    which: Annotated[Which, typer.Argument(metavar="WHICH", help="completed, failed or dlq.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, the whole event.")] = False,
    until_idle: Annotated[float | None, typer.Option("--until-idle", min=0, metavar="SECONDS", help="End after so long without an event.", show_default=False)] = None,
    from_beginning: Annotated[bool, typer.Option("--from-beginning", help="Begin with the oldest event, not with the next.")] = False,
) -> None:
    """Show outcomes or dead letters as they come."""
    from streams.cli.failure import say
    from streams.event_codec import event_codec
    from streams.settings import load_settings
    from streams.topic_reader import TopicReader
    from streams.topics import COMPLETED, DEAD_LETTERS, FAILED

    settings = load_settings()
    topic = {Which.completed: COMPLETED, Which.failed: FAILED, Which.dlq: DEAD_LETTERS}[which].full_name(settings)
    codec = event_codec(settings)
    with TopicReader(settings, [topic], from_beginning=from_beginning) as reader:
        if until_idle is None and not as_json:
            say(f"reading {topic} on {settings.broker}; Ctrl-C ends it")
        try:
            while until_idle is None or time.monotonic() - reader.idle_since < until_idle:
                for message in reader.poll(0.1):
                    _show(message, which, codec, as_json=as_json)
        except KeyboardInterrupt:
            return


def _show(message: Message, which: Which, codec: Codec, *, as_json: bool) -> None:
    from schemas.codec import UndecodableError
    from streams.cli.failure import say_error
    from streams.cli.output import print_json

    place = {"topic": message.topic(), "partition": message.partition(), "offset": message.offset()}
    try:
        event = _letter(message) if which is Which.dlq else _outcome(message, which, codec)
    except UndecodableError as exc:
        say_error("undecodable", f"{message.topic()}-{message.partition()}@{message.offset()}: {exc.reason}; a stranger writes to this topic")
        return
    if as_json:
        print_json({**event, **place})
    else:
        print(_line(event, which), flush=True)


def _outcome(message: Message, which: Which, codec: Codec) -> dict[str, Any]:
    from schemas.events import RenderCompleted, RenderFailed
    from streams.cli.output import plain

    raw = message.value() or b""
    return plain(codec.decode(raw, RenderCompleted) if which is Which.completed else codec.decode(raw, RenderFailed))


def _letter(message: Message) -> dict[str, Any]:
    """A dead letter: the original key, value and headers, and what was put beside them."""
    import base64

    from streams.dead_letters.letter import PREFIX

    key, value = message.key(), message.value()
    headers: list[tuple[str, Any]] = list(message.headers() or [])  # type: ignore[arg-type]  # a list, whatever the stubs say
    facts = {name.removeprefix(PREFIX).replace("-", "_"): _text(content) for name, content in headers if name.startswith(PREFIX)}
    return {
        **{name: int(content) if content and content.isdigit() and name in _NUMBERS else content for name, content in facts.items()},
        "key_base64": None if key is None else base64.b64encode(bytes(key)).decode(),
        "value_base64": None if value is None else base64.b64encode(value).decode(),
        "headers": [[name, _text(content)] for name, content in headers if not name.startswith(PREFIX)],
        "timestamp": message.timestamp()[1],
    }


_NUMBERS = frozenset({"generation", "attempts", "first_failure", "last_failure", "source_partition", "source_offset", "content_length"})


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "backslashreplace")


def _line(event: dict[str, Any], which: Which) -> str:
    from streams.cli.words import clock, shown_size

    if which is Which.completed:
        return (
            f"{clock(event['completed_at'])}  {event['source']:<8}  {event['content_hash'][:12]}  {event['format']:<4} "
            f"v{event['version']}-{event['error_correction']:<2} {shown_size(event['size_bytes']):>9}  {event['request_id']}"
        )
    if which is Which.failed:
        return f"{clock(event['failed_at'])}  {event['error_code']:<18}  {(event['content_hash'] or '-')[:12]:<12}  {event['request_id']}  {event['message']}"
    return (
        f"{clock(event['timestamp'])}  {event.get('reason') or '-':<18}  {event.get('source_topic')}-{event.get('source_partition')}"
        f"@{event.get('source_offset')}  {event.get('request_id') or '-'}  {event.get('message') or ''}"
    )
