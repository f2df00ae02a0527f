"""Finds the classes that a package of Heedful makes of a base, so that no test of all of them leaves one out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType


def concrete(base: type, package: ModuleType) -> set[type]:
    """Return the subclasses of a base that can be made, once every module of a package is imported."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    found, waiting = set(), [base]
    while waiting:
        for subclass in waiting.pop().__subclasses__():
            waiting.append(subclass)
            if subclass.__module__.startswith("heedful.") and not inspect.isabstract(subclass):
                found.add(subclass)
    return found
