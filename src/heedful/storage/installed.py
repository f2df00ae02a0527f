"""What installed packages bring, by their entry points: models, word vectors and a parser."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import metadata
from pathlib import Path

Finder = Callable[..., Iterable[metadata.EntryPoint]]
Places = tuple[tuple[str, int], ...]


def installed(group: str) -> dict[str, metadata.EntryPoint]:
    """Return the entry points of a group.

    The metadata of all packages is read again only where a folder of ``sys.path`` or the metadata in it have changed:
    it takes some hundredths of a second. An installation writes the folder of the metadata first and the entry points
    later, so a process that asks in between has to look at both.

    Args:
        group: such as "heedful.models".

    Returns:
        Name to entry point; of several with one name, the first.
    """
    places = tuple(changed for place in sys.path for changed in _changed(place))
    return dict(_found(metadata.entry_points, group, places))


def installed_folder(group: str, name: str) -> Path | None:
    """Return the folder that an installed package has under a name, or None.

    Args:
        group: such as "heedful.models".
        name: such as "en-nli".

    Returns:
        What the function of the entry point returns.
    """
    found = installed(group).get(name)
    folder: Path | None = None if found is None else found.load()()
    return folder


def _changed(place: str) -> Iterator[tuple[str, int]]:
    try:
        yield place, os.stat(place or ".").st_mtime_ns
        with os.scandir(place or ".") as found:
            described = [entry for entry in found if entry.name.endswith((".dist-info", ".egg-info"))]
        for entry in described:
            yield entry.path, entry.stat().st_mtime_ns
    except OSError:
        yield place, 0


@lru_cache(maxsize=8)
def _found(find: Finder, group: str, places: Places) -> dict[str, metadata.EntryPoint]:
    found: dict[str, metadata.EntryPoint] = {}
    for each in find(group=group):
        found.setdefault(each.name, each)
    return found
