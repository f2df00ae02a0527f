"""The options that say how one's own files are read, the same in every command: columns, encoding, separator, query."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

import click

from heedful.cli.guards import refuse_two_values
from heedful.cli.options import data_option, set_option, together
from heedful.data.readers.reading import FileReading, OnMissing, parse_columns, several_columns
from heedful.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
_TRAINED = "The default is what the model was trained with"


def reading_options(function: F) -> F:
    """Add the options for a file that a trained model is given; the command gets them as ``reading``."""
    return cast(F, _as_reading(function, f"{_TRAINED}, or the name of the role.", f" {_TRAINED}, or UTF-8."))


def reading_options_of_predict(function: F) -> F:
    """Add the same options to a command whose ``--header`` says what it writes."""
    columns, encoding = f"{_TRAINED}, or the name of the role.", f" {_TRAINED}, or UTF-8."
    return cast(F, _as_reading(function, columns, encoding, _HEADER[1:]))


def own_file_options(function: F) -> F:
    """Add the options for the files that a model is trained on; they are added to the command's ``overrides``."""

    @functools.wraps(function)
    def with_settings(
        *arguments: object,
        reading: FileReading,
        overrides: tuple[str, ...],
        max_tokens: int | None,
        truncate: str | None,
        **others: object,
    ) -> object:
        limits = {"data.max_tokens": max_tokens, "data.truncate": truncate}
        given = [f"{name}={value}" for name, value in limits.items() if value is not None]
        features = cast("tuple[str, ...]", others.pop("features"))
        if features:
            given.append(f"data.features={json.dumps(features, ensure_ascii=False)}")
        named = {f"{role}_column": others.pop(f"{role}_column") for role in NAMED_ROLES}
        columns = _with_named(reading.columns, {role: named[f"{role}_column"] for role in NAMED_ROLES})
        settings = as_settings(replace(reading, columns=columns))
        refuse_two_values(overrides, (*settings, *given))
        return function(*arguments, overrides=(*overrides, *settings, *given), **others)

    limited = together(
        *(
            click.option(
                f"--{role}",
                f"{role}_column",
                metavar="NAME",
                multiple=role == "label",
                help=f"Short for --column {role}=NAME."
                + (" Repeated, several label columns are learned at once." if role == "label" else ""),
            )
            for role in NAMED_ROLES
        ),
        click.option(
            "--feature",
            "features",
            multiple=True,
            metavar="NAME[:KIND]",
            help="A column that is read beside the text: a number, a category or a date, as its values say, or as KIND "
            "says (zip:category). May be repeated.",
        ),
        click.option("--max-tokens", type=click.IntRange(min=1), help="Longest text, in tokens."),
        click.option(
            "--truncate",
            type=click.Choice(["error", "head", "drop", "window"]),
            help="What happens to a text longer than --max-tokens: 'error' ends the command, 'head' keeps the "
            "beginning of the text, and 'drop' skips the training example; both are counted. 'window' reads the whole "
            "text in windows of that length.",
        ),
    )(with_settings)
    return cast(F, _as_reading(limited, "The default is what the recipe says.", ""))


NAMED_ROLES = ("text", "premise", "hypothesis", "label", "score")
"""Roles of columns that have an option of their own where a model is trained."""


def _with_named(columns: Mapping[str, str], named: Mapping[str, object]) -> dict[str, str]:
    """Add the columns that options of their own name; refuse two names for one role."""
    found = dict(columns)
    for role, given in named.items():
        name = several_columns(given) if isinstance(given, tuple) and given else given
        if isinstance(name, str) and found.setdefault(role, name) != name:
            raise UsageError(f"--{role} {name} and --column {role}={found[role]}: keep one of them")
    return found


def as_settings(reading: FileReading) -> list[str]:
    """Return the settings of a run that say how its files are read.

    Args:
        reading: what the options say.

    Returns:
        Values of ``--set``.

    Raises:
        UsageError: if a column has a role that training does not use.
    """
    if "group" in reading.columns:
        raise UsageError("--column group=NAME is for evaluation; training does not group its examples")
    named = {
        **{f"data.{role}": name for role, name in reading.columns.items()},
        **{f"data.options.{name}": value for name, value in reading.chosen_options().items()},
    }
    return [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in named.items()]


_HEADER = ("--header/--no-header", "--input-header/--no-input-header")
"""The option that says whether files have a header; `predict` has the first name for what it writes."""


def _as_reading(
    function: Callable[..., object], columns: str, encoding: str, header_names: tuple[str, ...] = _HEADER
) -> object:
    """Wrap a command so that it takes the options as one record."""

    @functools.wraps(function)
    def with_reading(
        *arguments: object,
        columns: tuple[str, ...],
        encoding: str | None,
        separator: str | None,
        quotes: bool | None,
        input_header: bool | None,
        on_missing: OnMissing | None,
        query: str | None,
        **others: object,
    ) -> object:
        named = parse_columns(columns)
        reading = FileReading(named, encoding, separator, quotes, input_header, on_missing, query=query)
        return function(*arguments, reading=reading, **others)

    return together(
        click.option(
            "--column",
            "columns",
            multiple=True,
            metavar="ROLE=NAME",
            help="The column of a role: text, premise, hypothesis, label, score or group. For example text=review. May "
            f"be repeated. {columns}",
        ),
        click.option("--encoding", help=f"Encoding of the file, for example latin-1 or cp1252.{encoding}"),
        click.option(
            "--separator",
            metavar="CHARACTER",
            help="Character between the fields of CSV and TSV, or the word tab. By default it is found in the first "
            "line of the file.",
        ),
        click.option(
            "--quotes/--no-quotes",
            default=None,
            help="Whether fields of CSV and TSV may be quoted; with --no-quotes a quotation mark is a plain character.",
        ),
        click.option(
            *header_names,
            "input_header",
            default=None,
            help="Whether the first row of CSV and TSV names the columns. Without a header they have numbers: --column "
            "text=1 --column label=2.",
        ),
        click.option(
            "--query",
            metavar="SELECT",
            help="What is read of a file of SQLite (.sqlite, .db) or DuckDB (.duckdb). By default its only table.",
        ),
        click.option(
            "--on-missing",
            type=click.Choice(["error", "empty", "skip"]),
            help="What a missing value in a table means: an error, an empty text, or that the row is skipped and "
            "counted. The default is error.",
        ),
    )(with_reading)


training_options = together(
    data_option,
    set_option,
    own_file_options,
    click.option("--seed", type=int, help="Short for --set train.seed=N."),
)
"""What every command has that trains one model."""
