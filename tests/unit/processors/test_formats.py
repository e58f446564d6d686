"""The formats are declared once: what pages, schemas and help say of them is compared here."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

from processors.images.formats import FORMATS, markdown, names
from streams.cli.render import render


def test_the_page_has_the_table(repository: Path) -> None:
    assert markdown() in (repository / "docs" / "images.md").read_text(encoding="utf-8")


def test_pages_name_every_format(repository: Path) -> None:
    listed = " / ".join(f'"{name}"' for name in FORMATS)
    *others, last = (f"`{name}`" for name in FORMATS)

    assert f"ext        = {listed}\n" in (repository / "docs" / "events.md").read_text(encoding="utf-8")
    assert f"| `format` | {', '.join(others)} or {last} |" in (repository / "docs" / "content-hash.md").read_text(encoding="utf-8")


def test_the_schemas_name_every_format(repository: Path) -> None:
    for schema in ("RenderRequested", "RenderSubmitted"):
        text = (repository / "schemas" / "avsc" / f"{schema}.avsc").read_text(encoding="utf-8")

        assert f'"one of {", ".join(FORMATS)}; case ignored"' in text


def test_the_help_names_every_format() -> None:
    _, option = get_args(get_type_hints(render, include_extras=True)["format_"])

    assert option.help == f"{names()}; by default from the name of -o, else png."


def test_a_formats_name_is_its_key_and_extension() -> None:
    assert {name: row.name for name, row in FORMATS.items()} == {name: name for name in ("png", "svg", "pdf", "eps", "txt")}
    assert [row.name for row in FORMATS.values() if row.whole_scale] == ["png"]
