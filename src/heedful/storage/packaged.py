"""The recipes that come with this package, and with others that are installed, as text; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from heedful.errors import MissingExtraError, check_known
from heedful.storage.installed import installed

GROUP = "heedful.recipes"
"""Entry points whose functions return a folder of recipes."""
ALIASES = {"my-english-texts": "my-texts"}
"""Former names of recipes: English word vectors are used by default now, where heedful-en is installed."""
ELSEWHERE = {f"{encoder}-multi30k": "heedful-lab" for encoder in ("mssan", "mtsa", "transformer")}
"""Recipes of packages that may not be installed: name to the package."""


def recipe_names() -> list[str]:
    """Return the names of the recipes that there are, sorted."""
    return sorted(_files())


def recipe_text(name: str) -> str:
    """Return a packaged recipe as TOML.

    Args:
        name: one of `recipe_names`, or a former name.

    Returns:
        The text.

    Raises:
        MissingExtraError: if the recipe comes with a package that is not installed.
        UsageError: if there is none of this name; gives the nearest.
    """
    files, name = _files(), ALIASES.get(name, name)
    if name not in files and (package := ELSEWHERE.get(name)):
        raise MissingExtraError(package, "", f"the recipe {name}", install=package)
    check_known(name, sorted(files), f"there is no packaged recipe {name!r}")
    return files[name].read_text(encoding="utf-8")


def _files() -> dict[str, Path]:
    return {file.stem: file for folder in _folders() for file in folder.glob("*.toml")}


def _folders() -> Iterator[Path]:
    """Yield the folders of recipes, this package's own last, so that nobody else's takes its place."""
    yield from (entry.load()() for entry in installed(GROUP).values())
    yield Path(str(resources.files("heedful"))) / "recipes"
