"""What is refused at a glance: names of nothing, before a command imports all that it works with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from heedful.errors import HeedfulError, UsageError

_RECIPES = ("recipe", "names")
"""Arguments that name recipes or data."""


def refuse_names_of_nothing(context: click.Context) -> None:
    """Refuse a call with a recipe, data or a model that is not there.

    Args:
        context: the call, its options read.

    Raises:
        HeedfulError: what the command itself would raise, some seconds later.
    """
    types = {each.name: each.type for each in context.command.params if isinstance(each, click.Argument)}
    given = {name: value for name, value in context.params.items() if name in types and value}
    folder = context.params.get("data")
    for name in _recipes(given):
        _refuse_recipe(name, folder if isinstance(folder, Path) else None)
    model = given.get("model")
    if isinstance(model, Path):
        refuse_no_model(model)


def _recipes(given: Mapping[str, object]) -> Iterator[str]:
    for argument in _RECIPES:
        value = given.get(argument)
        yield from value if isinstance(value, tuple) else (str(value),) if value else ()
    file, what = given.get("file"), given.get("what")  # before a file, this may be a model
    if isinstance(each := file or what, str):
        yield each


def _refuse_recipe(name: str, root: Path | None) -> None:
    """Refuse what is neither a recipe, nor data that is there or is known by its name."""
    from heedful.data.datasets import OWN_NAMES, data_sets
    from heedful.data.hub_data import is_hub_name
    from heedful.data.readers.class_folders import find_named
    from heedful.data.readers.table_files import is_table_name
    from heedful.data.readers.tag_files import TAG_SUFFIXES
    from heedful.data.readers.text_lines import bare_suffix
    from heedful.data.settings_files import settings_file
    from heedful.storage.installed import recipe_text

    path = Path(name)
    places = (path,) if root is None else (root / path, path)
    if is_hub_name(name) or name in OWN_NAMES or any(map(os.path.lexists, places)):
        return
    if is_table_name(path) or bare_suffix(path) in TAG_SUFFIXES:
        find_named(name, root)
    elif settings_file(name) is None:
        try:
            recipe_text(name)
        except HeedfulError:
            if name not in data_sets():
                raise


def refuse_no_model(name: Path) -> None:
    """Refuse a model that is not there.

    Args:
        name: of a folder, of a model of an installed package, or of one on the Hub.

    Raises:
        ArtifactError: if there is none.
    """
    from heedful.storage.manifest import refuse_no_folder
    from heedful.storage.named_models import find_model

    refuse_no_folder(find_model(name))


def refuse_model(folder: Path) -> None:
    """Refuse a model where data, or a recipe, is expected.

    Args:
        folder: what the user named.

    Raises:
        UsageError: if it holds a model.
    """
    from heedful.storage.layout import MODEL
    from heedful.storage.manifest import MANIFEST

    if any(os.path.isfile(folder / inner / MANIFEST) for inner in ("", MODEL)):
        raise UsageError(f"{folder}: is a model; this command takes data, or a recipe and data")
