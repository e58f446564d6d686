"""``qrstream invalidate``: results that are to answer no more."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """\b
Examples:
  qrstream invalidate 4a5f…(64 hex digits)
  qrstream invalidate --profile qr-1

\b
The owners of the partitions do it, in the order of the requests: what was published before is still
answered as it was. A result that is being retried is left alone: it answers nobody yet.

\b
Exit codes: 0 asked for, 2 no content hash, 65 no broker.
"""


def invalidate(
    content_hash: Annotated[str | None, typer.Argument(metavar="[HASH]", help="Content hash, 64 hex digits.", show_default=False)] = None,
    profile: Annotated[str | None, typer.Option("--profile", metavar="P", help="All results of this profile that are there now.", show_default=False)] = None,
) -> None:
    """Have a result, or all of a profile, rendered anew at the next request."""
    from processors.profile import PROFILES
    from processors.row_keys import is_content_hash
    from streams.cli.failure import CommandFailed
    from streams.exit_codes import ExitCode
    from streams.invalidation import invalidate_hash, invalidate_profile
    from streams.settings import load_settings

    if (content_hash is None) == (profile is None):
        raise CommandFailed(ExitCode.USAGE, "say which: one HASH, or --profile P")
    settings = load_settings()
    if profile is not None:
        if profile not in PROFILES:
            raise CommandFailed(ExitCode.USAGE, f"there is no profile {profile!a}; there is {', '.join(sorted(PROFILES))}")
        invalidate_profile(settings, profile)
        print(f"asked the owners of {settings.partitions} partitions to render anew what profile {profile} has up to now")
        return
    name = (content_hash or "").lower()
    if not is_content_hash(name.encode()):
        raise CommandFailed(ExitCode.USAGE, f"{content_hash!a} is no content hash: 64 hex digits are needed; `qrstream tail completed --json` shows them")
    invalidate_hash(settings, name)
    print(f"asked the owner of {name} to render it anew at the next request")
