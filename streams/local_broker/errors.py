"""The one error of this package."""

from __future__ import annotations

from streams.exit_codes import ExitCode


class LocalBrokerError(Exception):
    """No broker can be had here; the message is one line that says what to do about it.

    `code` is the exit code of a command that ends because of it.
    """

    code = ExitCode.BROKER
