"""The recipes that come with the package, as text; imports nothing heavy."""

from __future__ import annotations

from importlib import resources

from heedful.errors import check_known

_FOLDER = resources.files("heedful") / "recipes"
ALIASES = {"my-english-texts": "my-texts"}
"""Former names of recipes: English word vectors are used by default now, where heedful-en is installed."""


def recipe_names() -> list[str]:
    """Return the names of the packaged recipes, sorted."""
    return sorted(
        item.name.removesuffix(".toml") for item in _FOLDER.iterdir() if item.name.endswith(".toml")
    )


def recipe_text(name: str) -> str:
    """Return a packaged recipe as TOML.

    Args:
        name: one of `recipe_names`, or a former name.

    Returns:
        The text.

    Raises:
        UsageError: if there is none of this name; gives the nearest.
    """
    names, name = recipe_names(), ALIASES.get(name, name)
    check_known(name, names, f"there is no packaged recipe {name!r}")
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
