"""Loopback ports that nothing listens on."""

from __future__ import annotations

import random
import socket

LOOPBACK = "127.0.0.1"

# Below the ranges from which Linux (32768 up) and macOS (49152 up) draw the ports of outgoing connections: a port
# that a client socket borrows between our probe and the broker's bind would make the start fail.
_CHOICES = range(20_000, 30_000)


def is_free(port: int) -> bool:
    """Whether a server could bind `port` now. Sockets still in TIME_WAIT do not count, as they do not for Java."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_ports(count: int, *, besides: frozenset[int] = frozenset()) -> list[int]:
    """`count` different ports, free at the time of the call and not in `besides`."""
    found: list[int] = []
    for port in random.sample(_CHOICES, len(_CHOICES)):
        if port not in besides and is_free(port):
            found.append(port)
            if len(found) == count:
                return found
    msg = f"fewer than {count} free ports between {_CHOICES.start} and {_CHOICES.stop - 1}"
    raise OSError(msg)
