"""Options that belong together as records: a command gets one argument for each group, not one for each option.

A command names its records with `grouped`; the options themselves stay listed above it, in the order of its help. The
options that say how your own files are read are a record too, the same in every command.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from heedful.cli.options import data_option, set_option, together
from heedful.data.readers.reading import OnMissing, Reading, parse_columns
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.data.readers.reading import Reading
    from heedful.run.run_config import RunConfig
    from heedful.training.progress import Reporter

F = TypeVar("F", bound=Callable[..., Any])

Truncate = Literal["error", "head"]


def grouped(**records: type) -> Callable[[F], F]:
    """Return a decorator that gives a command some of its options as records; it stands below all options.

    Args:
        **records: name of an argument of the command to a dataclass; each field has the name of an option.

    Returns:
        The decorator.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def with_records(*arguments: object, **values: object) -> object:
            made = {
                name: record(**{field.name: values.pop(field.name) for field in fields(record)})
                for name, record in records.items()
            }
            return function(*arguments, **made, **values)

        return cast(F, with_records)

    return decorate


@dataclass(frozen=True)
class TextLimits:
    """How long a text may be; None leaves what the model was saved with."""

    max_tokens: int | None = None
    truncate: Truncate | None = None


NO_LIMITS = TextLimits()


@dataclass(frozen=True)
class Requests:
    """The texts that a model is asked about."""

    texts: tuple[str, ...]
    premise: str | None
    hypothesis: str | None
    predicates: tuple[str, ...]
    input_file: Path | None
    reading: Reading


@dataclass(frozen=True)
class Named:
    """The names of labels that a model of vectors answers with.

    Attributes:
        labels: the names; none for a model that has labels of its own.
        examples: a table with the columns text and label, whose rows refine the names.
    """

    labels: tuple[str, ...] = ()
    examples: Path | None = None

    def of(self, model: object) -> Any:
        """Return the model with these labels, or as it is where none are named.

        Args:
            model: any model.

        Returns:
            A model of the same kind.

        Raises:
            UsageError: if the model has labels of its own, or examples are given without names.
            DataError: naming the row, if an example has another label.
        """
        if not self.labels:
            if self.examples is not None:
                raise UsageError(
                    "--examples refine the labels that --label names: add --label NAME twice or more"
                )
            return model
        named = getattr(model, "with_labels", None)
        if named is None:
            raise UsageError(
                "--label is for a model of vectors, such as en-sentences; this one has its own answers"
            )
        rows: list[tuple[str, str]] = []
        if self.examples is not None:
            from heedful.data.readers.table_files import read_table

            corpus = read_table(self.examples, text="text", label="label", labels=self.labels)
            rows = [(example.texts[0], str(example.target)) for example in corpus.examples]
        return named(self.labels, rows)


UNNAMED = Named()


@dataclass(frozen=True)
class Recipe:
    """The settings of a run and its data.

    Attributes:
        recipe: a packaged recipe or a file.
        data: value of ``--data``.
        overrides: values of ``--set``, and the settings that other options are short for.
    """

    recipe: str
    data: Path | None
    overrides: tuple[str, ...]

    def config(self, *more: str) -> RunConfig:
        """Return the settings.

        Args:
            *more: further settings that options of the command are short for, as ``key=value``.

        Returns:
            The settings of the recipe with all changes.
        """
        from heedful.run.recipe_files import load_config

        return load_config(self.recipe, (*self.overrides, *more))


@dataclass(frozen=True)
class RunPlace:
    """Where a run is written, and what happens to an earlier one there."""

    out: Path
    resume: bool
    overwrite: bool

    def check(self, noun: str) -> None:
        """Refuse options that contradict each other.

        Args:
            noun: what is in the folder, for the message.

        Raises:
            UsageError: if both options are given.
        """
        if self.resume and self.overwrite:
            raise UsageError(f"--resume continues {noun} in --out, --overwrite replaces it: give one of them")


@dataclass(frozen=True)
class Printing:
    """What a command prints."""

    as_json: bool
    quiet: bool

    def say(self, line: str) -> None:
        """Print a line of progress on standard error, if it is wanted."""
        if not self.quiet:
            click.echo(line, err=True)

    def reporter(self) -> Reporter:
        """Return what shows the progress of training."""
        from heedful.training.progress import choose_reporter

        return choose_reporter(quiet=self.quiet)


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
        reading: Reading,
        overrides: tuple[str, ...],
        max_tokens: int | None,
        truncate: str | None,
        **others: object,
    ) -> object:
        limits = {"data.max_tokens": max_tokens, "data.truncate": truncate}
        given = [f"{name}={value}" for name, value in limits.items() if value is not None]
        return function(*arguments, overrides=(*overrides, *as_settings(reading), *given), **others)

    limited = together(
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


def as_settings(reading: Reading) -> list[str]:
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
        **{f"data.options.{name}": value for name, value in reading.said().items()},
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
        **others: object,
    ) -> object:
        reading = Reading(parse_columns(columns), encoding, separator, quotes, input_header, on_missing)
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
