"""``qrstream version``."""

from __future__ import annotations

from typing import Annotated

import typer


def version(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Print the versions that matter."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from streams.cli.output import print_json

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    versions = {
        "qrstream": of("qrstream"),
        "profile": "qr-1",
        "python": platform.python_version(),
        **{package: of(package) for package in ("faust-streaming", "confluent-kafka", "segno", "rocksdict", "zxing-cpp", "cramjam")},
    }
    if as_json:
        print_json(versions)
    else:
        for name, number in versions.items():
            print(f"{name:<16} {number}")
