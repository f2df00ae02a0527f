"""Options and small things that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)


def data_option(function: F) -> F:
    """Add ``--data``."""
    return click.option(
        "--data",
        type=PATH,
        envvar="HEEDFUL_DATA",
        show_envvar=True,
        help="Folder of the data sets; file names in settings are relative to it.",
    )(function)


def json_option(function: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")(function)


def quiet_option(function: F) -> F:
    """Add ``--quiet``."""
    return click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")(function)


def request_options(function: F) -> F:
    """Add the ways to say what a model should read."""
    for option in reversed(
        (
            click.option("--text", "texts", multiple=True, help="A text; may be repeated."),
            click.option("--premise", help="First text of a pair."),
            click.option("--hypothesis", help="Second text of a pair."),
            click.option(
                "--input",
                "input_file",
                type=PATH,
                help="File of requests: .csv .tsv .jsonl .parquet with columns text, or premise and hypothesis; any "
                "other file is one text a line. - reads lines from standard input.",
            ),
            click.option(
                "--on-missing",
                type=click.Choice(["error", "empty"]),
                default="error",
                show_default=True,
                help="What a missing value in --input is: a mistake, or the empty text.",
            ),
        )
    ):
        function = option(function)
    return function


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_rows(rows: Iterable[Sequence[object]]) -> None:
    """Print tab-separated rows; tabs and line breaks inside a field become spaces."""
    for row in rows:
        click.echo("\t".join(" ".join(str(field).split("\t")).replace("\n", " ") for field in row))
