"""``qrstream dlq replay`` and ``discard``: first what would be done, then, when told to, that."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.cli.dlq.options import Json, Letters, Reasons, Since, Tenants, Until

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.dead_letters.received import ReceivedLetter
    from streams.dead_letters.replay_plan import Refused, Replay
    from streams.settings import Settings

REPLAY_EPILOG = """\b
Examples:
  qrstream dlq replay --reason render_failed                what would be sent again: a dry run
  qrstream dlq replay --reason render_failed --yes --why 'renderer repaired'
  qrstream dlq replay 3-17 3-18 --repair-key --yes
  qrstream dlq replay --since 24h --yes --rate 20 --json

\b
Each letter is sent to where it came from once, with its key, bytes and headers and the next
replay generation, in one transaction with a note of who did it. Killed, stopped or run from two
terminals: run it again, and it goes on with what is left. A letter that cannot be replayed stays.

\b
Exit codes: 0 done (or a dry run), 1 some letters were left, 65 no broker, 66 no topic,
70 another terminal took over, 72 the broker did not answer a commit: run it again.
"""
DISCARD_EPILOG = """\b
Examples:
  qrstream dlq discard 3-17 --why 'a test of ours'          what would be set aside: a dry run
  qrstream dlq discard --reason undecodable --tenant acme --why 'ticket 4711' --yes

\b
A discarded letter is no longer listed as open nor replayed; it stays in the topic with its bytes
for as long as that keeps it, and `dlq list --all`, `show` and `export` still have it.

\b
Exit codes: 0 done (or a dry run), 1 a named letter is not there, 65 no broker, 66 no topic,
70 another terminal took over, 72 the broker did not answer a commit: run it again.
"""
_MOST_ROWS = 50
_MOST_REASON = 500
"""Characters of --why: the disposition's topic takes 64 KiB."""
_DEFAULT_RATE = 100.0
"""A worker renders several hundred symbols a second; the replay of a bad day leaves room for today's requests."""

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it; without, only tell (or ask, on a terminal).")]
Who = Annotated[str | None, typer.Option("--who", metavar="NAME", help="Who decides it; by default user@host.", show_default=False)]


def replay(
    letters: Letters = None, reason: Reasons = None, tenant: Tenants = None, since: Since = None, until: Until = None,
    repair_key: Annotated[bool, typer.Option("--repair-key", help="Give letters that failed as wrong_key or missing_key the right key.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Also send again what cannot be decoded, as it is.")] = False,
    rate: Annotated[float, typer.Option("--rate", min=0, metavar="N", help="At most N letters a second; 0 for no bound.")] = _DEFAULT_RATE,
    yes: Yes = False,
    why: Annotated[str | None, typer.Option("--why", metavar="TEXT", help="Is kept with the letter.", show_default=False)] = None,
    who: Who = None, as_json: Json = False,
) -> None:
    """Send dead letters to the workers again, each exactly once."""
    from streams.cli.dlq.options import selection_of
    from streams.dead_letters.choosing import look
    from streams.dead_letters.reading import spans
    from streams.dead_letters.replay_plan import Ways
    from streams.dead_letters.settling import Order
    from streams.event_codec import event_codec
    from streams.settings import load_settings
    from streams.topics import INTAKE, REQUESTED

    settings = load_settings()
    _checked(why)
    by = _name(who)
    selection = selection_of(settings, letters, reason, tenant, since, until, settled=bool(letters))
    requested = REQUESTED.full_name(settings)
    # The broker's own count: a terminal without QR_PARTITIONS must not send requests to other partitions than publishers do.
    ways = Ways(requested, INTAKE.full_name(settings), len(spans(settings, requested)), event_codec(settings), repair_key, raw)
    order = Order(look(settings, selection), ways, by, why, rate or None)
    _Command(settings, order, as_json=as_json).run(yes=yes)


def discard(
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Is kept with the letter.", show_default=False)],
    letters: Letters = None, reason: Reasons = None, tenant: Tenants = None, since: Since = None, until: Until = None,
    yes: Yes = False, who: Who = None, as_json: Json = False,
) -> None:
    """Set dead letters aside, with the reason."""
    from streams.cli.dlq.options import selection_of
    from streams.dead_letters.choosing import look
    from streams.dead_letters.settling import Order
    from streams.settings import load_settings

    settings = load_settings()
    _checked(why)
    by = _name(who)
    selection = selection_of(settings, letters, reason, tenant, since, until, settled=bool(letters))
    order = Order(look(settings, selection), None, by, why.strip())
    _Command(settings, order, as_json=as_json).run(yes=yes)


class _Command:
    """A dry run, a question, and what was asked for."""

    def __init__(self, settings: Settings, order: Any, *, as_json: bool) -> None:
        self.settings = settings
        self.order = order
        self.as_json = as_json
        self.told = 0
        self.verb, self.done = ("discard", "discarded") if order.ways is None else ("replay", "replayed")

    def run(self, *, yes: bool) -> None:
        """Tell, ask, do; leaves with the exit code."""
        from streams.exit_codes import ExitCode

        open_letters, missing = 0, 0
        if not yes or self.order.scope.selection.places is not None:  # else there is nothing to tell that the run itself does not
            open_letters, missing = self._dry_run(tells_each=not yes)
        if open_letters and not yes and not self.as_json and sys.stdin.isatty() and sys.stdout.isatty():
            yes = typer.confirm(f"{self.verb.capitalize()} {open_letters:,} now?")
        if not yes:
            if self.as_json:
                self._summary(dry_run=True, settled=0, refused=Counter(), missing=missing)
            else:
                print(f"nothing was written: this was a dry run{f'; --yes {self.verb}s them' if open_letters else ''}")
            raise typer.Exit(ExitCode.INCOMPLETE if missing else ExitCode.OK)
        self._do(missing)

    def _dry_run(self, *, tells_each: bool) -> tuple[int, int]:
        """What would be done; how many letters are open to it, and how many that were named are not there."""
        from streams.cli.dlq.naming import say_missing
        from streams.cli.dlq.table import Newest, counts, print_rows, row_of
        from streams.cli.failure import say
        from streams.cli.words import counted
        from streams.dead_letters.choosing import letters_with_state
        from streams.dead_letters.dispositions import State
        from streams.dead_letters.replay_plan import Refused
        from streams.dead_letters.settling import planned

        newest, left, notes, seen, topics = Newest(_MOST_ROWS), Counter[str](), Counter[str](), set(), set()
        for letter, state in letters_with_state(self.settings, self.order.scope):
            if self.order.scope.selection.places is not None:
                seen.add((letter.partition, letter.offset))
            if state is not State.open:
                say(f"{letter.name}: already {state.name}; it is left as it is")
                continue
            what = planned(self.settings, self.order.ways, letter)
            if isinstance(what, Refused):
                left[what.code.name] += 1
                if tells_each:
                    self._refused(letter, what)
                continue
            newest.add(row_of(letter, "open", _remark(letter, what)))
            notes.update(_notes(what))
            topics |= {what.topic} if what is not None else set()
            if tells_each and self.as_json:
                self._json(letter, f"would_be_{self.done}", what)
        missing = say_missing(self.settings, self.order.scope, seen)
        if tells_each and not self.as_json:
            print_rows(newest.rows, remark="message" if self.order.ways is None else "what comes of it")
            target = f" to {' and '.join(sorted(topics))}" if topics else ""
            shown = f" (the newest {len(newest.rows)} shown)" if len(newest.rows) < newest.count else ""
            print(f"{counted(newest.count, 'open letter')} would be {self.done}{target}{shown}{': ' if newest.count else ''}{counts(newest.by_reason)}")
            for note, number in notes.most_common():
                print(f"  {number:,}: {note}")
            if left:
                print(f"{counted(left.total(), 'letter')} would be left: {counts(left)}")
        return newest.count, missing

    def _do(self, missing: int) -> None:
        import logging

        from streams import kafka_clients
        from streams.dead_letters.replay_plan import Refused
        from streams.dead_letters.settling import settle
        from streams.exit_codes import ExitCode

        def told(letter: ReceivedLetter, what: Replay | Refused | None) -> None:
            if isinstance(what, Refused):
                self._refused(letter, what)
            elif self.as_json:
                self._json(letter, self.done, what)

        # What librdkafka says of a fenced producer is said by the line that ends the command.
        kafka_clients.logger.setLevel(logging.DEBUG if self.settings.log_level == "debug" else logging.CRITICAL + 1)
        with _asked_to_stop() as stopped:
            tally = settle(self.settings, self.order, told, stopped)
        self._summary(dry_run=False, settled=tally.settled, refused=tally.refused, missing=missing)
        if tally.interrupted:
            raise KeyboardInterrupt
        raise typer.Exit(ExitCode.INCOMPLETE if tally.refused or missing else ExitCode.OK)

    def _refused(self, letter: ReceivedLetter, refused: Refused) -> None:
        from streams.cli.failure import say, say_error

        if self.as_json:
            from streams.cli.output import print_json

            print_json({"letter": letter.name, "action": "refused", "code": refused.code.name, "message": refused.line})
            return
        self.told += 1
        if self.told <= _MOST_ROWS:
            say_error(refused.code.name, f"{letter.short_name}: {refused.line}")
        elif self.told == _MOST_ROWS + 1:
            say("more letters are left for such reasons; --json names each")

    def _json(self, letter: ReceivedLetter, action: str, what: Replay | None) -> None:
        from streams.cli.output import print_json

        facts = {} if what is None else {"generation": what.generation, "target_partition": what.partition, "key_repaired": what.key_repaired, "note": what.note}
        print_json({"letter": letter.name, "action": action, "reason": letter.reason, "request_id": letter.facts.get("request-id"), **facts})

    def _summary(self, *, dry_run: bool, settled: int, refused: Counter[str], missing: int) -> None:
        from streams.cli.dlq.table import counts
        from streams.cli.output import print_json
        from streams.cli.words import counted

        if self.as_json:
            print_json({"dry_run": dry_run, self.done: settled, "refused": refused.total(), "refused_by_code": dict(refused), "not_found": missing})
            return
        left = f"; {counted(refused.total(), 'letter')} left: {counts(refused)}" if refused else ""
        print(f"{counted(settled, 'letter')} {self.done} by {self.order.who}{left}")


def _remark(letter: ReceivedLetter, what: Replay | None) -> str:
    return letter.facts.get("message", "") if what is None else ", ".join([f"generation {what.generation}", *_notes(what)])


def _notes(what: Replay | None) -> list[str]:
    """What is out of the ordinary about a replay."""
    if what is None:
        return []
    return [*(["with a repaired key"] if what.key_repaired else []), *([what.note] if what.note else [])]


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C or SIGTERM came: the transaction that is open is finished first, instead of being left to its timeout."""
    import signal
    import threading

    asked = threading.Event()
    former = {number: signal.signal(number, lambda *_: asked.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _name(who: str | None) -> str:
    """Who decides, as other operators will read it."""
    import getpass
    import socket

    if who is not None:
        _checked(who, "--who")
        return who
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for its user
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def _checked(text: str | None, option: str = "--why") -> None:
    from streams.cli.failure import CommandFailed
    from streams.exit_codes import ExitCode

    if text is None:
        return
    if not text.strip():
        raise CommandFailed(ExitCode.USAGE, f"{option} is empty; say it in a few words")
    if len(text) > _MOST_REASON or not text.isprintable():
        raise CommandFailed(ExitCode.USAGE, f"{option} must be one line of at most {_MOST_REASON} characters")
