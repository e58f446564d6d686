"""An HTTP proxy on loopback that breaks what passes through it, in the way that a test asks for."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_IO_S = 60.0
"""No test waits this long; a thread that is left over ends by itself."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one request and its answer; the default is nothing.

    Attributes:
        methods: the fault is for these; others pass.
        delay: seconds before the request goes on.
        status: answer so, without asking the server.
        body: of that answer.
        drop: the server does its work, the client gets no answer and a reset connection.
        cut: the answer ends (with a reset) after this many bytes of its body.
        flip_answer, flip_request: a bit of the body is flipped.
        edit_request, edit_answer: change the head before it goes on.
    """

    methods: tuple[str, ...] = ("GET", "PUT", "HEAD", "DELETE")
    delay: float = 0.0
    status: int = 0
    body: bytes = b""
    drop: bool = False
    cut: int | None = None
    flip_answer: bool = False
    flip_request: bool = False
    edit_request: Callable[[bytes], bytes] = field(default=lambda head: head)
    edit_answer: Callable[[bytes], bytes] = field(default=lambda head: head)


NOTHING = Fault()


class FaultProxy:
    """Listens until closed; one thread a connection, one connection to the server a request."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._lock = threading.Lock()
        self._once: list[Fault] = []
        self._always = NOTHING
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.requests: list[str] = []
        self._accept_in_thread()

    def once(self, *faults: Fault) -> None:
        """Each for one request of its methods, in this order."""
        with self._lock:
            self._once += faults

    @contextlib.contextmanager
    def always(self, fault: Fault) -> Iterator[None]:
        """For every request of its methods, inside the block."""
        self._always = fault
        try:
            yield
        finally:
            self._always = NOTHING

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Connections are refused inside the block; the port stays ours."""
        self._stop_listening()
        try:
            yield
        finally:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            self._accept_in_thread()

    def close(self) -> None:
        """Stop listening, and let go of delayed requests."""
        self._closing.set()
        self._stop_listening()

    def _stop_listening(self) -> None:
        with contextlib.suppress(OSError):  # macOS refuses it on a listener, Linux wakes accept() with it
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept_in_thread(self) -> None:
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        client.settimeout(_IO_S)
        with client, contextlib.suppress(OSError):  # either side may be gone: that is what this proxy is for
            request = _message(client)
            if request is None:
                return
            fault = self._fault_for(request[0])
            self._closing.wait(fault.delay)
            if fault.status:
                client.sendall(_answer(fault.status, fault.body))
                return
            head, body = self._forward(fault.edit_request(request[0]), _flipped(request[1]) if fault.flip_request else request[1])
            self._give(client, head, body, fault)

    def _forward(self, head: bytes, body: bytes) -> tuple[bytes, bytes]:
        with socket.create_connection(("127.0.0.1", self._server_port), _IO_S) as server:
            server.sendall(head.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n") + body)
            answer = _message(server)
        assert answer is not None
        return re.sub(rb"\r\nconnection: [^\r]*", b"", answer[0], flags=re.IGNORECASE).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"), answer[1]

    def _give(self, client: socket.socket, head: bytes, body: bytes, fault: Fault) -> None:
        if not fault.drop:
            client.sendall(fault.edit_answer(head) + (_flipped(body) if fault.flip_answer else body)[: fault.cut])
        if fault.drop or fault.cut is not None:
            # Closing with a linger of 0 s sends a reset in place of an end.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _fault_for(self, head: bytes) -> Fault:
        method = head.partition(b" ")[0].decode()
        with self._lock:
            self.requests.append(" ".join(head.split(b" ", 2)[at].decode() for at in (0, 1)))
            for at, fault in enumerate(self._once):
                if method in fault.methods:
                    return self._once.pop(at)
        return self._always if method in self._always.methods else NOTHING


@contextlib.contextmanager
def fault_proxy(server_port: int) -> Iterator[FaultProxy]:
    """A proxy in front of a server of this machine."""
    proxy = FaultProxy(server_port)
    try:
        yield proxy
    finally:
        proxy.close()


def _message(connection: socket.socket) -> tuple[bytes, bytes] | None:
    """Head, with the empty line, and body of one request or answer; None where the connection ends first."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    to_the_end = length is None and head.startswith(b"HTTP/")
    while to_the_end or len(body) < (int(length[1]) if length else 0):
        chunk = connection.recv(65536)
        if not chunk:
            break
        body += chunk
    return head + b"\r\n\r\n", body


def _answer(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d Fault\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b" % (status, len(body), body)


def _flipped(body: bytes) -> bytes:
    return body[:-1] + bytes([body[-1] ^ 1]) if body else body
