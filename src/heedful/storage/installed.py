"""What this package and others that are installed bring: recipes, models, word vectors and a parser.

Other packages name what they bring by entry points. Files of theirs that a process reads many times are read once, as
long as they stay the same.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from heedful.errors import ArtifactError, MissingExtraError, check_known
from heedful.storage.entry_points import EntryPoint, entry_points

Finder = Callable[[], list[EntryPoint]]
Places = tuple[tuple[str, int], ...]
Read = TypeVar("Read")
Identity = tuple[int, int, int, int]

RECIPES = "heedful.recipes"
"""Entry points whose functions return a folder of recipes."""
FOLDERS = (MODELS, VECTORS, PARSERS) = ("heedful.models", "heedful.vectors", "heedful.parsers")
"""Entry points whose functions return the folder of a model, of word vectors or of a parser."""
ALIASES = {"my-english-texts": "my-texts"}
"""Former names of recipes: English word vectors are used by default now, where heedful-en is installed."""
ELSEWHERE = {f"{encoder}-multi30k": "heedful-lab" for encoder in ("mssan", "mtsa", "transformer")}
"""Recipes of packages that may not be installed: name to the package."""
REINSTALL = "It belongs to an installed package: install that again"
_SETTLED = 600 * 10**9
"""Nanoseconds after which no installation that changed a folder is still under way."""


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group.

    The metadata of all packages is read again only where a folder of ``sys.path`` or the metadata in it have changed.
    An installation writes the folder of the metadata first and the entry points
    later, so a process that asks in between, or in the ten minutes after, has to look at both.

    Args:
        group: such as "heedful.models".

    Returns:
        Name to entry point; of several with one name, the first.
    """
    places = tuple(changed for place in sys.path for changed in _changed(place))
    found: dict[str, EntryPoint] = {}
    for each in _found(entry_points, places):
        if each.group == group:
            found.setdefault(each.name, each)
    return found


def installed_folder(group: str, name: str) -> Path | None:
    """Return the folder that an installed package has under a name, or None.

    Args:
        group: such as "heedful.models".
        name: such as "en-nli".

    Returns:
        What the function of the entry point returns.

    Raises:
        ArtifactError: if the package is installed, and damaged or half removed.
    """
    found = installed(group).get(name)
    folder: Path | None = None if found is None else found.load()()
    if folder is not None and not os.path.isdir(folder):
        raise ArtifactError(f"{folder}: the folder of {name} is missing. {REINSTALL}")
    return folder


def in_package(folder: Path) -> bool:
    """Return whether a folder is one that an installed package names by an entry point."""
    for group in FOLDERS:
        for entry in installed(group).values():
            with suppress(Exception):  # another package may be damaged
                if entry.load()() == folder:
                    return True
    return False


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
    name = ALIASES.get(name, name)
    if (file := _file(name)) is not None:
        return file.read_text(encoding="utf-8")
    if package := ELSEWHERE.get(name):
        raise MissingExtraError(package, "", f"the recipe {name}", install=package)
    check_known(name, recipe_names(), f"there is no packaged recipe {name!r}")
    return _files()[name].read_text(encoding="utf-8")


def kept(read: Callable[[Path], Read], most: int = 1) -> Callable[[Path], Read]:
    """Return a reader of files that remembers what it read.

    A file is read again once its size, its time of change or the file itself is another one.

    Args:
        read: reads a file; its result must not be changed by anyone.
        most: how many results are remembered, the latest ones.

    Returns:
        The reader. It raises what ``read`` raises, `ArtifactError` for a file that cannot be read or is no text, and
        remembers no failure.
    """

    @lru_cache(maxsize=most)
    def known(path: Path, identity: Identity) -> Read:
        return read(path)

    def reader(path: Path) -> Read:
        with readable(path):
            found = path.stat()
            return known(path, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))

    return reader


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what a file of an installed package cannot be read for into `ArtifactError`, which names it."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ArtifactError(f"{path}: {why}. {REINSTALL}") from error


def _files() -> dict[str, Path]:
    return {file.stem: file for folder in _folders() for file in folder.glob("*.toml")}


def _file(name: str) -> Path | None:
    """Return the file of a recipe without a list of all of them, which takes milliseconds."""
    if not name or Path(name).name != name:
        return None
    files = (folder / f"{name}.toml" for folder in reversed(list(_folders())))
    return next(filter(os.path.isfile, files), None)


def _folders() -> Iterator[Path]:
    """Yield the folders of recipes, this package's own last, so that nobody else's takes its place."""
    yield from (entry.load()() for entry in installed(RECIPES).values())
    yield Path(__file__).parents[1] / "recipes"


def _changed(place: str) -> Iterator[tuple[str, int]]:
    try:
        changed = os.stat(place or ".").st_mtime_ns
        yield place, changed
        if time.time_ns() - changed > _SETTLED:
            return
        with os.scandir(place or ".") as found:
            described = [entry for entry in found if entry.name.endswith((".dist-info", ".egg-info"))]
        for entry in described:
            yield entry.path, entry.stat().st_mtime_ns
    except OSError:
        yield place, 0


@lru_cache(maxsize=8)
def _found(find: Finder, places: Places) -> list[EntryPoint]:
    """Return the entry points of all groups: to look for one reads the metadata of every package as well."""
    return find()
