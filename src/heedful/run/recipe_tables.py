"""Recipes as tables of plain values, from a file or the package, read before anything that trains is imported."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from heedful.data.readers.table_files import TABLE_SUFFIXES
from heedful.data.readers.text_lines import bare_suffix
from heedful.errors import UsageError
from heedful.storage import note_read
from heedful.storage.fields import TOO_LONG, is_too_long
from heedful.storage.installed import recipe_text
from heedful.storage.layout import ENVIRONMENT


def settings_file(recipe: str | Path) -> Path | None:
    """Return the file of settings that a name means.

    Args:
        recipe: name of a packaged recipe, or path of a TOML file, which may have any ending.

    Returns:
        A file that exists; None where the name can only be that of a packaged recipe.

    Raises:
        UsageError: if it is named like a table, or like a file and is none.
    """
    path = Path(recipe)
    if bare_suffix(path) in TABLE_SUFFIXES:
        raise UsageError(
            f"{path}: is a table, and a recipe was expected. To train on the table: heedful train {path}"
        )
    if os.path.isfile(path):
        return path
    if path.suffix != ".toml" and len(path.parts) <= 1:
        return None
    on_hub = re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", str(recipe)) and path.suffix == ""
    hint = f"; a data set of the Hugging Face Hub is named hub:{recipe}" if on_hub else ""
    raise UsageError(f"{path}: there is no such settings file{hint}")


def read_recipe(recipe: str | Path) -> tuple[dict[str, object], str]:
    """Read a packaged recipe or a file of settings as plain values, which are not checked yet.

    Args:
        recipe: name of a packaged recipe, or path of a TOML file.

    Returns:
        The table, and what messages call it.

    Raises:
        UsageError: if there is no such recipe or file, or it is not TOML.
    """
    if (file := settings_file(recipe)) is None:
        source = f"recipe {recipe}"
        return _parsed(recipe_text(str(recipe)), source), source
    if not is_of_a_run(file):  # which the run may write again
        note_read(file)
    return read_toml(file, str(Path(recipe))), str(Path(recipe))


def is_of_a_run(path: Path) -> bool:
    """Return whether a recipe is that of a run, which may hold the defaults of tasks of other packages."""
    return path.with_name(ENVIRONMENT).exists()


def read_toml(file: Path, place: str) -> dict[str, object]:
    """Read a file of TOML as plain values.

    Args:
        file: the file.
        place: what messages call it.

    Returns:
        The table.

    Raises:
        UsageError: if it is none.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: byte {error.start + 1:,} is not UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise UsageError(f"{place}: cannot be read: {error.strerror or error}") from error
    return _parsed(text, place)


def _parsed(text: str, place: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # also a number of too many digits, or lists in lists in lists
        long = isinstance(error, ValueError) and is_too_long(error)
        raise UsageError(f"{place}: not TOML: {TOO_LONG if long else error!s:.300}") from error


def values_of(overrides: Iterable[str]) -> dict[str, object]:
    """Return the values of ``table.key=value`` strings by their dotted names; what is written otherwise is left out."""
    found: dict[str, object] = {}
    for text in overrides:
        name, sign, raw = text.partition("=")
        if sign:
            found[name.strip()] = value_of(raw)
    return found


def value_of(raw: str) -> object:
    """Return what a value in TOML or a bare string means."""
    try:
        return tomllib.loads(f"x = {raw}")["x"]
    except (ValueError, RecursionError):
        return raw.strip()
