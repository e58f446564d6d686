"""One line on stderr for what went wrong, and the exit code that goes with it."""

from __future__ import annotations

import os
import sys
import traceback

from streams.exit_codes import ExitCode


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


def _meaning(error: BaseException) -> tuple[str, ExitCode, str]:
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
    refusal = getattr(error, "format_message", None)
    if refusal is not None:  # of the parser of the command line
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "qrstream"
        return "usage", ExitCode.USAGE, f"{refusal().rstrip('.')}; `{where} --help` shows how"
    hint = "" if _wants_traceback() else "; QR_LOG=console:debug shows where, please report it"
    return "crashed", ExitCode.CRASHED, f"{type(error).__name__}: {error}{hint}"


def _wants_traceback() -> bool:
    return os.environ.get("QR_LOG", "").endswith(":debug")
