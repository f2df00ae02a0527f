"""Packages whose public names are imported when they are first used, so that who needs one module imports no other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def imported_on_use(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package that imports its names when they are first used.

    Args:
        package: its name.
        homes: module to the names that the package takes from it; no name is that of a module of the package.

    Returns:
        What is asked for an attribute that the package does not have yet; it raises AttributeError for any other name.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def attribute(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, found)  # the next use does not ask here
        return found

    return attribute
