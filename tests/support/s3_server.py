"""A real S3 server on loopback: moto's, in a process of its own, its buckets in memory.

`python -m tests.support.s3_server` runs it: it prints its port and serves until it is ended. Requests are served
one at a time: moto looks for the object and stores the new one in two steps, S3 does both in one.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.support.waiting import wait_until

PROJECT = Path(__file__).resolve().parents[2]
START_S = 120.0
"""It takes 2 s; a machine whose cores others had taken has needed more than ten times as long for less."""
REGION = "us-east-1"


class S3Server:
    """One running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.endpoint = f"http://127.0.0.1:{port}"

    def make_bucket(self, name: str) -> str:
        """The bucket's name again."""
        self._request("PUT", name)
        return name

    def delete(self, bucket: str, key: str) -> None:
        """Remove an object behind the store's back."""
        self._request("DELETE", f"{bucket}/{key}")

    def overwrite(self, bucket: str, key: str, content: bytes, **noted: str) -> None:
        """Store other bytes behind the store's back, with `noted` as metadata."""
        self._request("PUT", f"{bucket}/{key}", content, {f"x-amz-meta-{name}": value for name, value in noted.items()})

    def content(self, bucket: str, key: str) -> bytes:
        """The object's bytes, read without the store."""
        return self._request("GET", f"{bucket}/{key}")[0]

    def headers(self, bucket: str, key: str) -> dict[str, str]:
        """The object's headers, in lower case."""
        return self._request("GET", f"{bucket}/{key}")[1]

    def _request(self, method: str, path: str, content: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[bytes, dict[str, str]]:
        # moto takes any key, but wants to be shown one; the date is no date of the test.
        authorization = f"AWS4-HMAC-SHA256 Credential=test/20260101/{REGION}/s3/aws4_request, SignedHeaders=host, Signature=0"
        given = {"Authorization": authorization, "Content-Type": "application/octet-stream", **(headers or {})}
        request = urllib.request.Request(f"{self.endpoint}/{path}", data=content, method=method, headers=given)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read(), {name.lower(): value for name, value in answer.headers.items()}


@contextlib.contextmanager
def s3_server(folder: Path, **environment: str) -> Iterator[S3Server]:
    """A server of this test or session alone; its log is in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    said, log = folder / "s3-port", folder / "s3.log"
    with said.open("wb") as out, log.open("wb") as err:
        process = subprocess.Popen([sys.executable, "-m", "tests.support.s3_server"], cwd=PROJECT, stdout=out, stderr=err, env={**os.environ, **environment})
    try:
        port = int(wait_until(lambda: said.read_text().strip() or _still_running(process, log), START_S, "the S3 server has told its port"))
        yield S3Server(port)
    finally:
        process.terminate()
        process.wait(30)


def _still_running(process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.poll() is None, log.read_text(errors="replace")
    return ""


def _serve() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app  # noqa: PLC0415  # seconds to import
    from werkzeug.serving import make_server  # noqa: PLC0415

    app = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, app, threaded=False, request_handler=MotoRequestHandler)
    print(server.server_port, flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    _serve()
