"""`python -m streams.local_broker`: bring Kafka's jars, if a local broker will need them. Part of the set-up."""

from __future__ import annotations

import os
import sys

from streams.local_broker.choice import prepare
from streams.local_broker.errors import LocalBrokerError

try:
    prepare(address=os.environ.get("QR_BROKER"))
except LocalBrokerError as error:
    print(f"qrstream: {error}", file=sys.stderr)  # noqa: T201 - a program's one line
    sys.exit(error.code)
