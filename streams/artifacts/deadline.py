"""One call's time, shared by its requests."""

from __future__ import annotations

import time

from streams.artifacts.errors import StoreUnavailable


class Deadline:
    """A call of `seconds` makes its requests in it: none begins in the second half, none lasts longer than half.

    obstore fixes the time limit of a request when the client is made, so a limit that shrinks is not to be had;
    two halves bound a call of any number of requests.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last_start = time.monotonic() + seconds / 2

    def check(self, key: str) -> None:
        """Ask before each request.

        Raises:
            StoreUnavailable: half of the time is gone.
        """
        if time.monotonic() > self._last_start:
            raise StoreUnavailable(f"{key}: the artifact store has used up {self._seconds:g} s; QR_STORE_TIMEOUT sets them", "timeout")
