"""Tables of the README, made from the declarations; a test compares the two."""

from __future__ import annotations

from typing import Any

from streams.exit_codes import RESTARTABLE, ExitCode
from streams.settings import CONFIG_FILE, Settings, environment_name


def exit_code_table() -> str:
    """Every exit code, its meaning, and whether a supervisor should start the command again."""
    rows = [f"| {code.value} | {code.meaning} | {'yes' if code in RESTARTABLE else ''} |" for code in ExitCode]
    return "\n".join(["| code | meaning | start again |", "|---|---|---|", *rows])


def settings_table() -> str:
    """Every setting: variable, default, meaning."""
    rows = [f"| `{environment_name(name)}` | {_shown(field.default)} | {field.description} |" for name, field in Settings.model_fields.items()]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows, f"| `{CONFIG_FILE}` | `qrstream.toml`, if there | the file of settings; the environment wins |"])


def _shown(default: Any) -> str:
    if default is None:
        return ""
    return f"`{default:.10g}`" if isinstance(default, float) else f"`{default}`"
