"""``qrstream publish FILE``: send requests, one JSON object a line."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

if TYPE_CHECKING:
    from processors.errors import RenderError
    from schemas.events import RenderRequested, RenderSubmitted
    from streams.client import PublishFailed

EPILOG = """\b
Examples:
  qrstream publish examples/requests.jsonl
  echo '{"content": "https://example.com", "format": "svg"}' | qrstream publish -
  qrstream publish requests.jsonl --intake
  qrstream publish requests.jsonl --json | jq .failed

\b
A line has content (or content_base64, or payload: see docs/content-types.md), and where they differ from the defaults request_id,
tenant, idempotency_key, format, error_correction, boost, scale or size, margin, dark, light,
profile, deliver, deadline; note and expect are comments. Without request_id it gets a UUID.
Wrong values are published too, and come back as failed events. A line that no event can hold,
or whose payload its type refuses, is refused with its number and counted as failed; the others go on.

\b
--intake sends submissions: each line's idempotency_key names the intent (its request_id where it
has none), the workers give the id, and publishing the same lines again changes nothing.

\b
Exit codes: 0 all published, 1 some lines refused, 2 no such file, 65 no broker, 66 no topic.
"""


def publish(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines; - is standard input.", show_default=False)],
    intake: Annotated[bool, typer.Option("--intake", help="Send to the intake, where publishing again changes nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Publish requests from a file of JSON Lines."""
    from processors.errors import RenderError
    from schemas.events import RenderRequested
    from streams.cli.failure import say_error
    from streams.cli.files import open_lines
    from streams.cli.output import print_json
    from streams.cli.words import counted
    from streams.client import PublishFailed, RenderClient
    from streams.exit_codes import ExitCode
    from streams.request_lines import read_lines
    from streams.settings import load_settings
    from streams.topics import INTAKE, REQUESTED

    failed: Counter[str] = Counter()
    sent: deque[int] = deque()
    published = no_canonical_form = 0

    def refuse(number: int, failure: RenderError | PublishFailed) -> None:
        code, message = (failure.code, failure.message) if isinstance(failure, RenderError) else ("broker", str(failure))
        say_error(code, f"line {number}: {message}")
        failed[code] += 1

    def requests(lines: BinaryIO) -> Iterator[RenderRequested]:
        for number, request in read_lines(lines):
            if isinstance(request, RenderRequested):
                sent.append(number)
                yield request
            else:
                refuse(number, request)

    settings = load_settings()
    with open_lines(file) as lines, RenderClient(settings, source="/qrstream/publish") as client:
        results = client.submit_all(map(_submission_of, requests(lines))) if intake else client.publish_all(requests(lines))
        for result in results:
            number = sent.popleft()
            if isinstance(result, (RenderError, PublishFailed)):
                refuse(number, result)
            else:
                published += 1
                no_canonical_form += result.content_hash is None
    total = published + failed.total()
    if as_json:
        print_json({"requests": total, "published": published, "failed": failed.total(), "failed_by_code": dict(failed)})
    else:
        refusals = f", {failed.total()} refused" if failed else ""
        topic = (INTAKE if intake else REQUESTED).full_name(settings)
        print(f"{published} of {counted(total, 'request')} published to {topic}{refusals}")
        if no_canonical_form:
            print(f"{no_canonical_form} of them with wrong values, which come back as failed events: `qrstream tail failed`")
    if failed:
        raise typer.Exit(ExitCode.BROKER if failed["broker"] else ExitCode.INCOMPLETE)


def _submission_of(request: RenderRequested) -> RenderSubmitted:
    from schemas.events import RenderSubmitted

    fields = {name: getattr(request, name) for name in RenderSubmitted.__slots__ if name != "idempotency_key"}
    return RenderSubmitted(idempotency_key=request.idempotency_key or request.request_id, **fields)
