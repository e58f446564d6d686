"""Names that no other test uses on a shared broker, and a broker for those that share one."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streams.local_broker import LocalBroker

# Only for tests: an address to use in place of a broker of the session's own, for quicker runs of a single test.
# Not QR_BROKER, which the tests of the settings must find as a user's shell has it, and which a user may have
# pointed at a cluster that no test should touch.
ADDRESS_VARIABLE = "TEST_BROKER"


@dataclass(frozen=True, slots=True)
class Names:
    """What one test calls its topics and its application."""

    topic_prefix: str
    app_id: str


def unique_names() -> Names:
    """Names with 48 random bits, short enough for every limit that Kafka and Faust put on them."""
    unique = uuid.uuid4().hex[:12]
    return Names(topic_prefix=f"t{unique}.", app_id=f"app-{unique}")


@contextlib.contextmanager
def session_broker(folder: Path) -> Iterator[str]:
    """The address (host:port) of a real broker with its records in `folder`, stopped at the end."""
    if address := os.environ.get(ADDRESS_VARIABLE):
        yield address
        return
    with LocalBroker.start(folder) as broker:
        yield broker.bootstrap
