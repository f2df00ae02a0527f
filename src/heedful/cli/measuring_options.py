"""The options of commands that measure a model: examples with gold, and what becomes of the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from heedful.cli.options import PATH, data_option, together
from heedful.cli.reading_options import reading_options
from heedful.cli.request_options import refuse_standard_input
from heedful.errors import ExitCode, UsageError, check_known

if TYPE_CHECKING:
    from heedful.data.examples import Corpus
    from heedful.data.readers.reading import FileReading
    from heedful.tasks import AnyModel

F = TypeVar("F", bound=Callable[..., Any])


def gold_options(example: str) -> Callable[[F], F]:
    """Return a decorator that adds FILE, ``--on``, ``--data`` and the options that say how FILE is read.

    Args:
        example: a known data set, for the help.

    Returns:
        The decorator; `GoldOptions` is the record of these options.
    """
    return together(
        click.argument("file", type=PATH, required=False),
        click.option(
            "--on",
            "split",
            metavar="SET:SPLIT",
            help=f"A known data set instead of FILE, for example {example}.",
        ),
        data_option,
        reading_options,
    )


@dataclass(frozen=True)
class GoldOptions:
    """Which examples a model is measured on."""

    file: Path | None
    split: str | None
    data: Path | None
    reading: FileReading

    def __post_init__(self) -> None:
        """Refuse standard input."""
        refuse_standard_input(self.file)

    def options(self, references: Path | None = None) -> dict[str, object]:
        """Return the options that say how FILE is read, by their names.

        Args:
            references: value of ``--references``.

        Returns:
            The values; None where an option is not given.
        """
        return {**self.reading.as_options(), "references": references}

    def read(self, model: AnyModel, references: Path | None = None) -> Corpus:
        """Read the examples.

        Args:
            model: what is measured.
            references: value of ``--references``.

        Returns:
            The examples with their gold.

        Raises:
            UsageError: see `heedful.run.evaluate.read_gold`.
        """
        from heedful.run.evaluate import read_gold

        return read_gold(model, self.file, self.split, self.data, self.options(references))


@dataclass(frozen=True)
class OutcomeOptions:
    """What a command does with its measurements."""

    figures: tuple[Path, ...]
    fail_under: str | None
    as_json: bool

    def check_figures(self, what: str) -> None:
        """Refuse files that cannot be drawn, before anything is measured.

        Args:
            what: what would be drawn, for the message.

        Raises:
            UsageError: see `heedful.figure_style.check_figure`.
        """
        from heedful.figure_style import check_figure

        for path in self.figures:
            check_figure(path, what)

    def gate(self, names: Sequence[str], example: str) -> tuple[str, float] | None:
        """Read the condition of ``--fail-under``, such as ``accuracy=0.9``.

        Args:
            names: what may be on the left.
            example: a condition, for messages.

        Returns:
            The name and the limit; None if the option was not given.

        Raises:
            UsageError: if it is no such condition.
        """
        if not self.fail_under:
            return None
        name, _, value = self.fail_under.partition("=")
        check_known(name, names, f"--fail-under: there is no metric {name!r}")
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if not math.isfinite(limit):
            raise UsageError(f"--fail-under {self.fail_under!r}: write METRIC=VALUE, for example {example}")
        return name, limit


def judge(name: str, value: float, limit: float, *, higher_is_better: bool) -> ExitCode:
    """Compare a figure with the limit of ``--fail-under``, and say if it is worse.

    Args:
        name: of the figure, for the message.
        value: what was measured.
        limit: the worst value that is good enough.
        higher_is_better: whether a larger figure is better.

    Returns:
        The exit code of the command.
    """
    if value >= limit if higher_is_better else value <= limit:
        return ExitCode.OK
    click.echo(f"heedful: {name} is {value:.4f}, worse than {limit:g}", err=True)
    return ExitCode.GATE_FAILED
