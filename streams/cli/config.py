"""``qrstream config``: every setting, where its value is from, and what it means."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """\b
Examples:
  qrstream config
  qrstream config --json | jq .partitions
  QR_CONFIG=/etc/qrstream.toml qrstream config

\b
The environment wins over the file, the file over the default. The file is qrstream.toml in the
working folder, or what QR_CONFIG names: `partitions = 16` there is QR_PARTITIONS=16 here.

\b
Exit codes: 0, or 64 when a setting is wrong.
"""


def config(as_json: Annotated[bool, typer.Option("--json", help="Print values alone, as one JSON object.")] = False) -> None:
    """Print every setting, its source and meaning.

    Secrets are masked.
    """
    import os
    import shutil
    import textwrap

    from streams.cli.output import print_json
    from streams.settings import Settings, environment_name, load_settings

    settings = load_settings()
    values = settings.masked()
    if as_json:
        print_json(values)
        return
    columns = shutil.get_terminal_size((110, 24)).columns
    in_file = settings.model_fields_set
    for name, field in Settings.model_fields.items():
        variable = environment_name(name)
        source = "environment" if os.environ.get(variable) else "file" if name in in_file else "default"
        value = values[name]
        print(f"{variable}={'' if value is None else value}  ({'not set' if value is None and source == 'default' else source})")
        print(textwrap.fill(field.description or "", max(columns, 40), initial_indent="    ", subsequent_indent="    "))
