"""Whether a file is the same as before: one that is changed while it is read gives rows that nobody wrote together."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heedful.errors import DataError

FileState = tuple[int, ...]
"""Device, number, size in bytes and time of the last change in nanoseconds; empty for a pipe, a folder or no file."""


def state_of(file: Path | int) -> FileState:
    """Return what changes when a file does.

    Args:
        file: its path, or an open descriptor.

    Returns:
        The state; see `FileState`.
    """
    try:
        status = os.stat(file)
    except (OSError, ValueError):  # the second: a path that no file can have
        return ()
    if not stat.S_ISREG(status.st_mode):
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def refuse_changed(before: Mapping[Path, FileState]) -> None:
    """Refuse files that are no longer what they were; one that is gone by now was read to its end.

    Args:
        before: their states before they were read.

    Raises:
        DataError: naming the first that has changed.
    """
    for file, state in before.items():
        # Less of the state may be known: without the numbers that differ between machines.
        if state and (now := state_of(file)[-len(state) :]) and now != state:
            raise DataError(
                f"{file}: was changed while it was read. Wait until nothing writes to it, and run the command again"
            )


@contextmanager
def unchanged(*files: Path) -> Iterator[None]:
    """Refuse files that change while the body reads them.

    Args:
        *files: their paths.

    Raises:
        DataError: see `refuse_changed`.
    """
    before = {file: state_of(file) for file in files}
    yield
    refuse_changed(before)
