"""``qrstream status REQUEST_ID``: what has become of one request."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """\b
Examples:
  qrstream status 4a5f…-0123456789abcdef           an id made by the intake holds its hash
  qrstream status order-17 --hash 4a5f…            any other needs it
  qrstream status order-17 --hash 4a5f… --json | jq .status

\b
pending: published, not decided yet; processing: waiting for a retry; ready; failed. Everything is read from
the topics, so no worker has to run; QR_APP_ID and QR_PARTITIONS must be the workers'.

\b
Exit codes: 0 found, 1 no such request, 2 no hash, 65 no broker, 66 no topic.
"""


def status(
    request_id: Annotated[str, typer.Argument(metavar="REQUEST_ID", help="As published, or as the intake has made it.", show_default=False)],
    content_hash: Annotated[str | None, typer.Option("--hash", metavar="HASH", help="Content hash, where the id does not begin with it.", show_default=False)] = None,
    tenant: Annotated[str, typer.Option("--tenant", metavar="NAME", help="Whose request it is.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what has become of one request."""
    from processors.row_keys import is_content_hash
    from streams.cli.failure import CommandFailed
    from streams.cli.output import plain, print_json
    from streams.cli.words import instant
    from streams.exit_codes import ExitCode
    from streams.request_status import read_status
    from streams.settings import load_settings

    name = (content_hash or request_id.partition("-")[0]).lower()
    if not is_content_hash(name.encode()):
        raise CommandFailed(
            ExitCode.USAGE,
            f"{content_hash!a} is no content hash: 64 hex digits are needed" if content_hash else f"{request_id!a} was not made by the intake; give its content hash with --hash",
        )
    found = read_status(load_settings(), request_id, name, tenant)
    if found is None:
        raise CommandFailed(
            ExitCode.INCOMPLETE, f"no request {request_id!a} of tenant {tenant!a} under {name}: it was never published, or is past its time", code="not_found"
        )
    if as_json:
        print_json(plain(found))
        return
    print(f"request       {found.request_id}  (tenant {found.tenant})")
    print(f"content hash  {found.content_hash}")
    print(f"status        {found.status}, attempts {found.attempts}, generation {found.generation}")
    if found.next_attempt_at is not None:
        print(f"next attempt  {instant(found.next_attempt_at)}")
    if found.error_code is not None:
        print(f"error         {found.error_code}: {found.message}")
    if found.result_ref is not None:
        print(f"kept at       {found.result_ref}")
    if found.event_id is not None:
        print(f"outcome       event {found.event_id}")
