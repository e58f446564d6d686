"""How a qrstream process ends: one declaration for code, documentation and ``qrstream --help``."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """Exit status of every ``qrstream`` command.

    1 and 2 are what shells and command-line parsers use already; 64 and above follow
    sysexits.h in spirit: a supervisor restarts after 70 to 75, and must not after the others.
    """

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Take the code and what it means."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    OK = 0, "done"
    INCOMPLETE = 1, "the command ran, but not everything that was asked for came true"
    USAGE = 2, "wrong arguments or an input that cannot be read"
    SETTINGS = 64, "a setting is missing or wrong"
    BROKER = 65, "the broker cannot be reached, or no local broker can be started"
    TOPICS = 66, "a topic is missing, or its partitions or settings do not fit"
    DATA_FOLDER = 67, "the data folder cannot be written, or another worker uses it"
    PORT_IN_USE = 68, "the address to listen on is taken"
    STATE = 69, "the state of a partition is not usable; see the message for what to do"
    FENCED = 70, "another worker owns the partition now; start again to rejoin"
    RECORDS_SKIPPED = 71, "the consumer skipped records and could not go back; start again"
    COMMIT_UNCERTAIN = 72, "the broker did not say whether a transaction was committed; start again"
    CRASHED = 73, "an error nobody expected; start again, and report it"
    BROKER_LOST = 74, "the broker or the schema registry stopped answering; start again"
    RENDERER = 75, "the process that renders cannot be started; start again"
    STORE = 76, "the artifact store does not answer; start again"
    OTHER_BYTES = 77, "this installation makes other bytes than the profile has fixed; install the pinned requirements"


RESTARTABLE = frozenset({ExitCode.FENCED, ExitCode.RECORDS_SKIPPED, ExitCode.COMMIT_UNCERTAIN, ExitCode.BROKER_LOST, ExitCode.CRASHED, ExitCode.RENDERER, ExitCode.STORE})
"""Codes after which the same command, started again, goes on where the committed position is."""
