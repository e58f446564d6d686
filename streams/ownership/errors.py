"""What can end a batch, an ownership or the process, and with which exit code.

OwnershipError
├── Abandoned            the ownership was closed while a batch was on its way: forget the batch
├── TransactionAborted   nothing of the transaction is visible: decide the batch again
├── OutputTooLarge       one record of the transaction fits no topic: decide the batch again without it
└── OwnershipLost        the process ends
    ├── Fenced               a newer owner exists
    ├── CommitUncertain      the broker never said whether the transaction was committed
    ├── LocalWriteFailed     committed on the broker, but not in RocksDB
    ├── BrokerSilent         the broker did not answer while partitions were opened
    └── StateUnusable        a partition can't be opened; names what to do
"""

from __future__ import annotations

from streams.exit_codes import ExitCode


class OwnershipError(Exception):
    """Base of everything the commit protocol raises."""


class Abandoned(OwnershipError):
    """The ownership ended while a batch was on its way; the position has not moved."""


class TransactionAborted(OwnershipError):
    """The transaction was aborted; none of its records will ever be seen read_committed."""


class OutputTooLarge(OwnershipError):
    """A record is larger than its topic takes; the transaction was aborted.

    Attributes:
        origin: offset of the request that caused the record.
    """

    def __init__(self, origin: int) -> None:
        super().__init__(f"the output for offset {origin} is larger than its topic takes")
        self.origin = origin


class OwnershipLost(OwnershipError):
    """The process must end: its view of a partition is not the truth any more."""

    exit_code = ExitCode.CRASHED


class Fenced(OwnershipLost):
    """A newer owner has fenced this one by its producer epoch (KIP-98, KIP-360)."""

    exit_code = ExitCode.FENCED


class CommitUncertain(OwnershipLost):
    """The commit's answer never came; only a new owner can learn what is true."""

    exit_code = ExitCode.COMMIT_UNCERTAIN


class LocalWriteFailed(OwnershipLost):
    """The transaction is committed but RocksDB refused the rows; a restart restores them."""

    exit_code = ExitCode.DATA_FOLDER


class BrokerSilent(OwnershipLost):
    """The broker did not answer while partitions were opened; starting again may find it back."""

    exit_code = ExitCode.BROKER_LOST


class StateUnusable(OwnershipLost):
    """A partition cannot be opened without risking lost or doubled outcomes."""

    exit_code = ExitCode.STATE
