"""What is refused at a glance: names of nothing, before a command imports all that it works with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from heedful.cli.request_options import refuse_standard_input
from heedful.errors import HeedfulError, UsageError

_RECIPES = ("recipe", "names")
"""Arguments that name recipes or data."""
_TEXTS = ("words",)
"""Arguments that are texts, which may be empty."""
_MOST_SHOWN = 20
"""Wrong names that a message lists."""


def refuse_names_of_nothing(context: click.Context) -> None:
    """Refuse a call with a recipe, data or a model that is not there.

    Args:
        context: the call, its options read.

    Raises:
        HeedfulError: what the command itself would raise, some seconds later.
    """
    types = {each.name: each.type for each in context.command.params if isinstance(each, click.Argument)}
    for argument in context.command.params:
        values = context.params.get(argument.name or "")
        if isinstance(argument, click.Argument) and argument.name not in _TEXTS:
            for value in values if isinstance(values, tuple) else (values,):
                if isinstance(value, str) and not value.strip():
                    raise click.BadParameter("it is empty; give a name or a path", context, argument)
    given = {name: value for name, value in context.params.items() if name in types and value}
    folder = context.params.get("data")
    overrides = context.params.get("overrides")
    _refuse_unknown_settings(overrides if isinstance(overrides, tuple) else ())
    for name in _recipes(given):
        _refuse_recipe(name, folder if isinstance(folder, Path) else None)
    model = given.get("model")
    if isinstance(model, Path):
        refuse_no_model(model)


def _refuse_unknown_settings(overrides: Sequence[str]) -> None:
    """Refuse values of ``--set`` whose names no table has; tables of other packages are left to the command."""
    names = [each.partition("=")[0].strip() for each in overrides]
    if not names:
        return
    known = known_settings()
    wrong = [name for name in names if _is_unknown(name, known)]
    if wrong:
        lines = "".join(
            f"\n  {name:.200}: unknown setting; {_instead(name, known)}" for name in wrong[:_MOST_SHOWN]
        )
        raise UsageError(f"mistakes in the settings: {len(wrong)}{lines}")


def _is_unknown(name: str, known: Sequence[str]) -> bool:
    """Return whether a table that is known has no such setting, table or entry of a table."""
    if name.partition(".")[0] not in {each.partition(".")[0] for each in known}:
        return False
    return not any(
        each == name or each.startswith(f"{name}.") or name.startswith(f"{each}.") for each in known
    )


def _instead(name: str, known: Sequence[str]) -> str:
    """Suggest a setting: of the same last name in an inner table, or the nearest of the same table."""
    from heedful.errors import nearest

    table, _, last = name.rpartition(".")
    below = [each for each in known if each.startswith(f"{table}.")]
    found = [each for each in below if each.rpartition(".")[2] == last]
    beside = dict.fromkeys(each[len(table) + 1 :].partition(".")[0] for each in below)
    return f"did you mean {' or '.join(map(repr, found))}?" if found else nearest(last, list(beside))


def known_settings() -> list[str]:
    """Return the dotted names of all settings of a run, from the file that editors read them from."""
    from importlib.util import module_from_spec, spec_from_file_location

    # By its path: the package that it belongs to imports all that trains.
    spec = spec_from_file_location(
        "setting_types", Path(__file__).parents[1] / "estimators" / "setting_types.py"
    )
    assert spec is not None  # a file of Python
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return [name.replace("__", ".") for name in module.EstimatorSettings.__annotations__]


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
    from heedful.run.recipe_tables import settings_file
    from heedful.storage.installed import recipe_text

    path = Path(name)
    refuse_standard_input(path)
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
