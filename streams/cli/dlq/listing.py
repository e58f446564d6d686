"""``qrstream dlq list``: which letters there are."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from streams.cli.dlq.options import All, Json, Reasons, Since, Tenants, Until

OVERVIEW = """\b
A dead letter is a request that could not be handled, kept with its key, bytes and headers.
  qrstream dlq list                  which there are
  qrstream dlq show 3-17             everything about one
  qrstream dlq replay --reason render_failed        what would be sent again; --yes does it
  qrstream dlq discard 3-17 --why 'a test of ours'  set it aside
  qrstream dlq export -o letters.jsonl              keep them elsewhere
docs/dead-letters.md has the whole story.
"""
EPILOG = """\b
Examples:
  qrstream dlq list                              open letters, the newest last
  qrstream dlq list --reason wrong_key --since 24h
  qrstream dlq list --all --tenant acme --until 2026-01-31T12:00Z
  qrstream dlq list --json | jq -r 'select(.attempts > 3) | .letter'

\b
Times are those of the last failure. The counts are of all that fit; the table shows the newest
--limit. With --json every letter is one object, in the order of partitions and offsets.

\b
Exit codes: 0 done, 2 wrong options, 65 no broker, 66 no topic, 69 a disposition that this release cannot read.
"""
_MOST_ROWS = 100


def list_letters(  # a command's arguments are its options
    reason: Reasons = None, tenant: Tenants = None, since: Since = None, until: Until = None, everything: All = False,
    limit: Annotated[int | None, typer.Option("--limit", min=0, metavar="N", help=f"Show the newest N; 0 is all ({_MOST_ROWS} in a table, all in JSON).", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """List dead letters that nobody has replayed or discarded yet."""
    from streams.cli.dlq.options import selection_of
    from streams.cli.dlq.table import Newest, counts, print_rows, row_of
    from streams.cli.output import print_json
    from streams.cli.words import counted
    from streams.dead_letters.choosing import letters_with_state, look
    from streams.dead_letters.export import facts_of
    from streams.settings import load_settings

    settings = load_settings()
    scope = look(settings, selection_of(settings, None, reason, tenant, since, until, settled=everything))
    if as_json and not limit:
        for letter, state in letters_with_state(settings, scope):
            print_json(facts_of(letter, state))
        return
    newest = Newest(None if limit == 0 else limit or _MOST_ROWS)
    states: Counter[str] = Counter()
    for letter, state in letters_with_state(settings, scope):
        newest.add(row_of(letter, state.name, letter.facts.get("message", "")), facts_of(letter, state) if as_json else None)
        states[state.name] += 1
    if as_json:
        for facts in newest.beside:
            print_json(facts)
        return
    print_rows(newest.rows, with_state=everything, remark="message")
    if newest.count:
        shown = f", the newest {len(newest.rows)} shown" if len(newest.rows) < newest.count else ""
        what = f"{counted(newest.count, 'letter')} ({', '.join(f'{number:,} {state}' for state, number in states.items())})" if everything else counted(newest.count, "open letter")
        print(f"{what}{shown}: {counts(newest.by_reason)}")
    else:
        filtered = any(option is not None for option in (reason, tenant, since, until))
        print(f"no {'' if everything else 'open '}dead letters{' fit' if filtered else ''}")
