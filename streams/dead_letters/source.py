"""The value of a letter that had no room for it, fetched from where the record was."""

from __future__ import annotations

from hashlib import sha256

from streams.dead_letters.reading import read_one
from streams.dead_letters.received import ReceivedLetter
from streams.settings import Settings


def value_at_source(settings: Settings, letter: ReceivedLetter) -> bytes | None:
    """The bytes that lie at the letter's source; None if nothing does, or nothing was left out.

    Whether they are the letter's own is for its SHA-256 to say: a topic may have been made anew.

    Raises:
        BrokerUnreachable: no answer.
    """
    topic, partition, offset = letter.facts.get("source-topic"), letter.number("source-partition"), letter.number("source-offset")
    if not letter.value_left_out or topic is None or partition is None or offset is None:
        return None
    message = read_one(settings, topic, partition, offset)
    return None if message is None else message.value()


def own_value(settings: Settings, letter: ReceivedLetter) -> bytes | None:
    """The value that was left out of a letter, if its source still has that very one.

    Raises:
        BrokerUnreachable: no answer.
    """
    value = value_at_source(settings, letter)
    return value if value is not None and sha256(value).hexdigest() == letter.facts["value-sha256"] else None
