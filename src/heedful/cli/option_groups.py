"""Options that belong together as records: a command gets one argument for each group, not one for each option.

A command names its records with `grouped`; the options themselves stay listed above it, in the order of its help.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.config import RunConfig
    from heedful.data.readers.reading import Reading
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
        from heedful.config import load_config

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
