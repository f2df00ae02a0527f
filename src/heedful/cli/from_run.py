"""``--from``: a run that goes on from another one has its recipe, with new data."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from heedful.cli.options import PATH
from heedful.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def from_option(function: F) -> F:
    """Add ``--from`` to a command that has a recipe; its value becomes a recipe and settings."""

    @click.option(
        "--from",
        "source",
        type=PATH,
        metavar="RUN",
        help="Go on from the model of this run, which stays as it is: the settings are its own, and DATA, or --set "
        "data.train=FILE, has the new rows. Training examples that the model keeps are learned again.",
    )
    @functools.wraps(function)
    def with_source(
        *arguments: object,
        recipe: str | None,
        source: Path | None,
        overrides: tuple[str, ...],
        **others: object,
    ) -> object:
        if source is None:
            if recipe is None:
                raise UsageError("name your data or a recipe, such as reviews.csv; see heedful train --help")
            return function(*arguments, recipe=recipe, overrides=overrides, **others)
        from heedful.run.own_file import is_own_file
        from heedful.training.run_folder import RunFolder

        own, settings = RunFolder(source).recipe, [f"data.learn_from={json.dumps(str(source))}"]
        if not own.is_file():
            raise UsageError(
                f"--from {source}: expected the folder of a run that has ended; it has no {own.name}"
            )
        if others.get("file") is not None:
            raise UsageError(f"--from {source}: the recipe is that of the run; name a file of new rows alone")
        if recipe is not None:
            data = cast("Path | None", others.get("data"))
            if not is_own_file(recipe, data):
                raise UsageError(
                    f"{recipe}: with --from the recipe is that of the run; name a file of new rows"
                )
            settings += [f"data.train={json.dumps(recipe)}"]
        elif not any(each.startswith("data.train=") for each in overrides):
            raise UsageError("--from: name the new rows, as in heedful train new.csv --from RUN")
        return function(*arguments, recipe=str(own), overrides=(*settings, *overrides), **others)

    return cast(F, with_source)
