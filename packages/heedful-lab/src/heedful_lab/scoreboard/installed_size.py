"""How much disk the packages take that a system needs to predict."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def installed_megabytes(packages: Iterable[str]) -> float:
    """Add up the installed files of packages and of everything that they require.

    Args:
        packages: names of distributions; what is not installed takes nothing.

    Returns:
        Megabytes, compiled byte code excluded. Requirements of extras do not count.
    """
    every: set[str] = set()
    waiting = [_plain(name) for name in packages]
    while waiting:
        name = waiting.pop()
        if name not in every:
            every.add(name)
            waiting += _required(name)
    return sum(_bytes(name) for name in sorted(every)) / 1e6


def package_megabytes(name: str) -> float:
    """Add up the files of a package that can be imported, however it is installed.

    Args:
        name: of the package.

    Returns:
        Megabytes, compiled byte code excluded.
    """
    found = find_spec(name)
    places = [] if found is None else list(found.submodule_search_locations or ())
    files = (file for place in places for file in Path(place).rglob("*"))
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc") / 1e6


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _required(name: str) -> list[str]:
    try:
        found = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    needed = (each for each in found if "extra ==" not in each)
    return [_plain(match[0]) for each in needed if (match := _NAME.match(each))]


@cache
def _bytes(name: str) -> int:
    try:
        files = metadata.files(name) or []
    except metadata.PackageNotFoundError:
        return 0
    places = (Path(str(file.locate())) for file in files if file.suffix != ".pyc")
    return sum(place.stat().st_size for place in places if place.is_file())
