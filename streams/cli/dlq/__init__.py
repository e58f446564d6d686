"""``qrstream dlq list|show|replay|discard|export``: dead letters in an operator's hands."""

from __future__ import annotations

import typer

from streams.cli.dlq import exporting, listing, settling, showing

app = typer.Typer(
    help="Look at dead letters, send them again, or set them aside.", no_args_is_help=True, rich_markup_mode=None, epilog=listing.OVERVIEW
)
app.command("list", epilog=listing.EPILOG)(listing.list_letters)
app.command("show", epilog=showing.EPILOG)(showing.show)
app.command("replay", epilog=settling.REPLAY_EPILOG)(settling.replay)
app.command("discard", epilog=settling.DISCARD_EPILOG)(settling.discard)
app.command("export", epilog=exporting.EPILOG)(exporting.export)
