"""Files that a process reads many times, such as those of an installed package: read once while they are the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

Read = TypeVar("Read")
Identity = tuple[int, int, int, int]


def kept(read: Callable[[Path], Read], most: int = 1) -> Callable[[Path], Read]:
    """Return a reader of files that remembers what it read.

    A file is read again once its size, its time of change or the file itself is another one.

    Args:
        read: reads a file; its result must not be changed by anyone.
        most: how many results are remembered, the latest ones.

    Returns:
        The reader. It raises what ``read`` raises, and remembers no failure.
    """

    @lru_cache(maxsize=most)
    def known(path: Path, identity: Identity) -> Read:
        return read(path)

    def reader(path: Path) -> Read:
        found = path.stat()
        return known(path, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))

    return reader
