"""Files that commands read and write; - is standard input or output."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from streams.cli.failure import CommandFailed
from streams.exit_codes import ExitCode

STANDARD = Path("-")


@contextlib.contextmanager
def open_lines(file: Path) -> Iterator[BinaryIO]:
    """The lines of a file of requests, as bytes.

    Raises:
        CommandFailed: it cannot be read.
    """
    if file == STANDARD:
        yield sys.stdin.buffer
        return
    try:
        opened = file.open("rb")
    except OSError as exc:
        raise CommandFailed(ExitCode.USAGE, f"{file} cannot be read: {exc.strerror}; name a file of JSON Lines, or - for standard input") from exc
    with opened:
        yield opened


def write_whole(file: Path, content: bytes) -> None:
    """Write all of it or nothing: a reader never meets half an image.

    Raises:
        CommandFailed: it cannot be written.
    """
    if file == STANDARD:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        if file.exists() and not file.is_file():  # /dev/stdout, a pipe: nothing to replace
            file.write_bytes(content)
            return
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name[:100]}-", delete=False) as unfinished:
            unfinished.write(content)
        umask = os.umask(0)
        os.umask(umask)
        Path(unfinished.name).chmod(0o666 & ~umask)
        Path(unfinished.name).replace(file)
    except OSError as exc:
        raise CommandFailed(ExitCode.USAGE, f"{file} cannot be written: {exc.strerror}; choose another place with -o") from exc
