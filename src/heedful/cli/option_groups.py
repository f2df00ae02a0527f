"""Options that belong together as records: a command gets one argument for each group, not one for each option.

A command names its records with `grouped`; the options themselves stay listed above it, in the order of its help. How
your own files are read is in `heedful.cli.reading_options`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from heedful.cli.guards import refuse_two_values
from heedful.cli.output import print_note
from heedful.cli.request_options import file_among
from heedful.data.readers.reading import FileReading
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.model.model import Model
    from heedful.run.run_config import RunConfig
    from heedful.training.progress import Reporter

    M = TypeVar("M", bound=Model[Any, Any])

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
                name: record(
                    **{
                        each.name: values.pop(each.name)
                        for each in fields(record)
                        if _is_option(each, values)
                    }
                )
                for name, record in records.items()
            }
            return function(*arguments, **made, **values)

        return cast(F, with_records)

    return decorate


NO_OPTION = {"option": False}
"""Metadata of a field of a record that no option of the command stands for."""


def _is_option(each: Field[Any], values: Mapping[str, object]) -> bool:
    """Return whether a command has an option for a field; without one, a field has its default."""
    asked = each.init and bool(each.metadata.get("option", True))
    return asked and (each.name in values or each.default is MISSING)


@dataclass(frozen=True)
class TextLimits:
    """How long a text may be; None leaves what the model was saved with."""

    max_tokens: int | None = None
    truncate: Truncate | None = None


NO_LIMITS = TextLimits()


@dataclass(frozen=True)
class Requests:
    """The texts that a model is asked about.

    Attributes:
        texts: values of ``--text``.
        premise: value of ``--premise``.
        hypothesis: value of ``--hypothesis``.
        predicates: values of ``--predicates``.
        input_file: value of ``--input``.
        reading: how it is read.
        words: texts without an option; or a file or a folder of classes, which is read as that of ``--input``.
        cells: values of ``--feature``.

    Raises:
        UsageError: if an argument is named like a file and is none, or a file stands beside others.
    """

    texts: tuple[str, ...]
    premise: str | None
    hypothesis: str | None
    predicates: tuple[str, ...]
    input_file: Path | None
    reading: FileReading
    words: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Read one argument that names a file as ``--input``."""
        named = file_among(self.words, self.input_file)
        if named is not None:
            object.__setattr__(self, "input_file", named)
            object.__setattr__(self, "words", ())

    def of(self, *, is_pair: bool) -> Requests:
        """Return the same, the texts without an option where those with one stand.

        Args:
            is_pair: whether the model reads pairs.

        Returns:
            The requests.

        Raises:
            UsageError: if they are not two for a pair, or an option is given too.
        """
        if not self.words:
            return self
        if not is_pair:
            return replace(self, texts=(*self.words, *self.texts), words=())
        if len(self.words) != 2 or self.premise is not None or self.hypothesis is not None:
            raise UsageError(
                f"this model takes pairs: give two texts, the first and the second; got {len(self.words)}"
            )
        return replace(self, premise=self.words[0], hypothesis=self.words[1], words=())


@dataclass(frozen=True)
class NamedLabelOptions:
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
        made = named(self.labels, rows)
        if self.examples is None and (unread := _unread(made, self.labels)):
            named_first = ", ".join(map(repr, unread[:3])) + " and others" * (len(unread) > 3)
            click.echo(
                f"the model knows no word of {named_first}: such names say next to nothing. Name labels by words that "
                "it knows, or add examples (--examples FILE)",
                err=True,
            )
        return made


def _unread(model: Any, labels: Sequence[str]) -> list[str]:
    """Return the names of which a model knows no word."""
    from heedful.model.decisions.named_labels import name_as_text

    answers = model.predict([name_as_text(name) for name in labels])
    return [
        name for name, answer in zip(labels, answers, strict=True) if answer.unknown == sum(answer.tokens)
    ]


UNNAMED = NamedLabelOptions()


@dataclass(frozen=True)
class Recipe:
    """The settings of a run and its data.

    Attributes:
        recipe: a packaged recipe or a file of settings; data is replaced by the recipe for it.
        data: value of ``--data``.
        overrides: values of ``--set``, and the settings that other options are short for.
        file: data behind the recipe that is to learn from it; None where one argument names either.
        named: what the user typed for the recipe.
    """

    recipe: str
    data: Path | None
    overrides: tuple[str, ...]
    file: str | None = None
    named: str = field(default="", init=False)

    def config(self, *more: str) -> RunConfig:
        """Return the settings.

        Args:
            *more: further settings that options of the command are short for, as ``key=value``.

        Returns:
            The settings of the recipe with all changes.
        """
        from heedful.run.idle_settings import load_noted

        said = tuple(f"{each.partition('=')[0]}=" for each in more)
        refuse_two_values([each for each in self.overrides if each.startswith(said)], more)
        return load_noted(self.recipe, (*self.overrides, *more), lambda line: click.echo(line, err=True))

    def __post_init__(self) -> None:
        """Turn data in place of a recipe into the recipe for it, and say on standard error what was recognized."""
        from heedful.run.own_file import is_own_file, own_file

        own, recipe = self.recipe, None
        if self.file is not None:
            own, recipe = self._distinguished(self.recipe, self.file)
        object.__setattr__(self, "named", own)
        if recipe is not None or is_own_file(own, self.data):
            if recipe is None:
                found = own_file(own, self.overrides, self.data)
            else:
                from heedful.run.learned_recipe import learned_by, outputs_of

                found = learned_by(recipe, own_file(own, self.overrides, self.data, outputs_of(recipe)))
            object.__setattr__(self, "recipe", found.recipe)
            object.__setattr__(self, "overrides", (*found.overrides, *self.overrides))
            print_note(found.note)

    def _distinguished(self, first: str, second: str) -> tuple[str, str]:
        """Return which of two arguments is data, and which the recipe that learns from it, in whatever order."""
        from heedful.cli.early_checks import refuse_model
        from heedful.errors import UsageError
        from heedful.run.own_file import is_own_file

        own = [is_own_file(each, self.data) for each in (first, second)]
        if own == [True, True]:
            for each in (first, second):
                refuse_model(Path(each))
            raise UsageError(
                f"{first} and {second} are both data; expected one, or a recipe and data. A test file is named by "
                f"--set data.test={second}, the folder of the run by --out {second}"
            )
        return (first, second) if own[0] else (second, first)


@dataclass(frozen=True)
class Lessons:
    """Who teaches a model beside the gold labels, and on which further texts."""

    teachers: tuple[str, ...]
    texts: str | None

    def settings(self) -> list[str]:
        """Return the settings that the options are short for, as ``key=value``."""
        named = [f"distil.teacher={json.dumps(list(self.teachers))}"] if self.teachers else []
        return named + ([f"distil.texts={json.dumps(self.texts)}"] if self.texts else [])


@dataclass(frozen=True)
class RunPlace:
    """Where a run is written, and what happens to an earlier one there."""

    out: Path | None
    resume: bool
    overwrite: bool

    def folder(self, recipe: str) -> Path:
        """Return ``--out``; where it is not given, a new folder that is named after the recipe or the data."""
        from heedful.cli.run_folders import new_folder

        taken_by = "--resume" if self.resume else "--overwrite" if self.overwrite else ""
        return new_folder(recipe, taken_by=taken_by) if self.out is None else self.out

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

    def print_line(self, line: str) -> None:
        """Print a line of progress on standard error, if it is wanted."""
        if not self.quiet:
            click.echo(line, err=True)

    def reporter(self) -> Reporter:
        """Return what shows the progress of training."""
        from heedful.training.progress import choose_reporter

        return choose_reporter(quiet=self.quiet)

    def stages(self) -> AbstractContextManager[None]:
        """Show what goes on beside the steps of a network, as long as the body runs."""
        from heedful.training.distributed import is_first_process
        from heedful.training.stages import stages_shown

        return stages_shown(quiet=self.quiet or not is_first_process())
