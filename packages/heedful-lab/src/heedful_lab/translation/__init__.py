"""Translation: a task that plugs in from outside, with its network, search, subwords, figures, data set and recipes."""

from pathlib import Path


def recipes() -> Path:
    """Return the folder of the recipes, for the entry points of ``heedful.recipes``."""
    return Path(__file__).parent / "recipes"
