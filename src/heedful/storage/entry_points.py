"""Entry points of installed packages, read without ``importlib.metadata``, a tenth of the time of a short command.

It is asked all the same where packages may be elsewhere than in folders: in a zip file, or with an importer of its own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

from heedful.errors import ArtifactError, HeedfulError

_FOLDERS = (".dist-info", ".egg-info")


@dataclass(frozen=True)
class EntryPoint:
    """What ``package`` names in ``group``; ``value`` is the module and the name in it."""

    name: str
    value: str
    group: str
    package: str

    def load(self) -> Any:
        """Import what is named; raises ArtifactError where the installed package is damaged or half removed."""
        module, _, names = self.value.partition("[")[0].replace(" ", "").partition(":")
        try:
            return reduce(getattr, filter(None, names.split(".")), import_module(module))
        except HeedfulError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise ArtifactError(
                f"{self.value}, {self.name!r} of the installed package {self.package}, cannot be imported "
                f"({' '.join(why.split()):.200}): install that package again"
            ) from error


def entry_points() -> list[EntryPoint]:
    """Return the entry points of all packages in ``sys.path``; of two versions of a package, the first counts."""
    if _is_elsewhere():
        from importlib import metadata

        found = metadata.entry_points()
        return [
            EntryPoint(each.name, each.value, group, "" if each.dist is None else each.dist.name)
            for group in found.groups
            for each in found.select(group=group)
        ]
    folders: dict[str, tuple[str, str]] = {}
    for place in sys.path:
        for folder in _folders(place or "."):
            package = os.path.basename(folder).rpartition(".")[0].partition("-")[0]
            folders.setdefault(re.sub(r"[-_.]+", "_", package).lower(), (package, folder))
    return [point for package, folder in folders.values() for point in _read(package, folder)]


def _is_elsewhere() -> bool:
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    return any(hasattr(finder, "find_distributions") for finder in others) or any(
        map(os.path.isfile, sys.path)
    )


def _folders(place: str) -> list[str]:
    try:
        return [os.path.join(place, name) for name in os.listdir(place) if name.endswith(_FOLDERS)]
    except OSError:
        return []


def _read(package: str, folder: str) -> Iterator[EntryPoint]:
    try:
        with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as stream:
            lines = [line.strip() for line in stream]
    except (OSError, UnicodeDecodeError):
        return
    group = ""
    for line in lines:
        name, equals, value = line.partition("=")
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif equals and not line.startswith("#"):
            yield EntryPoint(name.strip(), value.strip(), group, package.replace("_", "-"))
