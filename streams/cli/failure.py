"""One line on stderr for what went wrong, and the exit code that goes with it."""

from __future__ import annotations

import errno
import os
import sys
import traceback

from streams.exit_codes import ExitCode

_OUTPUT_REFUSED = frozenset({errno.ENOSPC, errno.EIO, errno.EDQUOT})


class CommandFailed(Exception):
    """A command cannot do what was asked; the message says what is wrong and what to do."""

    def __init__(self, exit_code: ExitCode, message: str, *, code: str | None = None) -> None:
        """`code` names the failure; the exit code's own name by default."""
        super().__init__(message)
        self.exit_code = exit_code
        self.code = code or exit_code.name.lower()


def say(line: str) -> None:
    """One line on stderr, whatever the terminal's encoding can show."""
    encoding = sys.stderr.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr, flush=True)


def say_error(code: str, message: str) -> None:
    """`error <code>: what; what to do`, in one line."""
    say(f"error {code}: {' '.join(message.split())}")


def report(error: BaseException) -> ExitCode:
    """Say what an exception means to a user, and return the exit code.

    What nobody expected is one line too; its traceback is for those who ask with QR_LOG=console:debug.
    """
    code, exit_code, message = _meaning(error)
    if exit_code is ExitCode.CRASHED and _wants_traceback():
        traceback.print_exception(error)
    say_error(code, message)
    return exit_code


def _meaning(error: BaseException) -> tuple[str, ExitCode, str]:  # noqa: PLR0911  # one return a kind of error
    """The name of the failure, its exit code, and its line."""
    # Imported here: `--help` needs no error table.
    from processors.errors import RenderError

    if isinstance(error, RenderError):
        return error.code, ExitCode.INCOMPLETE, error.message
    declared = [code for name in ("exit_code", "code") if isinstance(code := getattr(error, name, None), ExitCode)]
    if declared:
        name = error.code if isinstance(error, CommandFailed) else declared[0].name.lower()
        return name, declared[0], str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return "usage", ExitCode.USAGE, f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.errno in _OUTPUT_REFUSED:
        return "output", ExitCode.INCOMPLETE, f"the output cannot be written: {error.strerror}"
    refused = refused_setting(error)
    if refused is not None:
        return "settings", ExitCode.SETTINGS, refused
    refusal = getattr(error, "format_message", None)
    if refusal is not None:  # of the parser of the command line
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "qrstream"
        return "usage", ExitCode.USAGE, f"{refusal().rstrip('.')}; `{where} --help` shows how"
    hint = "" if _wants_traceback() else "; QR_LOG=console:debug shows where, please report it"
    return "crashed", ExitCode.CRASHED, f"{type(error).__name__}: {error}{hint}"


def refused_setting(error: BaseException) -> str | None:
    """The line for a connection setting that a Kafka client refuses when it is made, such as a file that is no certificate."""
    import ssl

    if isinstance(error, ssl.SSLError):
        return f"QR_KAFKA_SSL_*: {error.strerror or error}"
    inner = error.args[0] if error.args else None
    # librdkafka's code for a wrong configuration, without importing the client for it.
    if type(error).__name__ == "KafkaException" and getattr(inner, "name", lambda: "")() == "_INVALID_ARG":
        return f"QR_KAFKA_*: {inner.str()}" if inner is not None else None
    return None


def _wants_traceback() -> bool:
    return os.environ.get("QR_LOG", "").endswith(":debug")
