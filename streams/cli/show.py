"""``qrstream show HASH``: what is stored under a content hash."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from streams.stored_results import StoredResult

EPILOG = """\b
Examples:
  qrstream show 4a5f…(64 hex digits)
  qrstream show 4a5f… -o code.png
  qrstream show 4a5f… --json | jq .status

\b
The row is read from the changelog, so no worker has to run; QR_APP_ID and QR_PARTITIONS must be
the workers'. An expired row answers no request any more and is shown as expired.

\b
Exit codes: 0 found, 1 nothing is stored under it, 2 no content hash, 65 no broker, 66 no topic.
"""


def show(
    content_hash: Annotated[str, typer.Argument(metavar="HASH", help="Content hash, 64 hex digits.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print the row as one JSON object, artifact included.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the artifact; - is standard output.", show_default=False)] = None,
) -> None:
    """Show what is stored under a content hash."""
    from processors.row_keys import is_content_hash
    from streams.cli.failure import CommandFailed
    from streams.cli.files import STANDARD, write_whole
    from streams.exit_codes import ExitCode
    from streams.logs import configure_logs
    from streams.settings import load_settings
    from streams.stored_results import read_results

    name = content_hash.lower()
    if not is_content_hash(name.encode()):
        raise CommandFailed(ExitCode.USAGE, f"{content_hash!a} is no content hash: 64 hex digits are needed; `qrstream tail completed --json` shows them")
    if as_json and output == STANDARD:
        raise CommandFailed(ExitCode.USAGE, "--json and -o - both want standard output; leave one out")
    settings = load_settings()
    configure_logs(settings)  # what the artifact store has to say goes to stderr
    stored = read_results(settings, [name]).get(name)
    if stored is None:
        raise CommandFailed(
            ExitCode.INCOMPLETE, f"nothing is stored under {name}; it was never requested here", code="not_found"
        )
    if output is not None:
        if stored.artifact is None:
            raise CommandFailed(ExitCode.INCOMPLETE, f"{name} has no artifact: its status is {stored.row.status}", code="not_found")
        write_whole(output, stored.artifact)
    if output != STANDARD:
        _print(stored, output, as_json=as_json)


def _print(stored: StoredResult, output: Path | None, *, as_json: bool) -> None:
    import base64
    import time

    from streams.cli.output import plain, print_json
    from streams.cli.words import instant, shown_size

    row = stored.row
    expired = row.expires_at <= time.time_ns() // 1_000_000
    if as_json:
        artifact = None if stored.artifact is None else base64.b64encode(stored.artifact).decode()
        print_json({"content_hash": stored.content_hash, "partition": stored.partition, "expired": expired, **plain(row), "artifact_base64": artifact})
        return
    print(f"content hash  {stored.content_hash}  (partition {stored.partition})")
    print(f"status        {row.status}{', expired' if expired else ''}")
    if row.error_code is not None:
        print(f"error         {row.error_code} ({row.error_class}): {row.message}")
    if row.status == "ready":
        print(f"symbol        version {row.version}-{row.error_correction.upper()}, mask {row.mask}, profile {row.profile}, {row.renderer}")
        if row.verification is not None:
            facts = row.verification
            print(f"read back     by {facts.decoder}; contrast {facts.contrast_ratio:.1f}:1, quiet zone {facts.quiet_zone_modules:g} modules, {facts.module_px:g} px a module")
            if facts.warnings:
                print(f"warnings      {', '.join(facts.warnings)}; docs/scanning.md says what they mean")
        print(f"artifact      {row.media_type}, {shown_size(row.size_bytes)}, SHA-256 {row.checksum}")
        print(f"kept at       {row.result_ref}")
    print(f"made          {instant(row.created_at)}; until {instant(row.expires_at)}")
    if output is not None:
        print(f"written to    {output}")
