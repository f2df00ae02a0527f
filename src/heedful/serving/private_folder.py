"""Temporary folders of a server that only its user can read; a program that sweeps old files may remove them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from heedful.errors import OutputError
from heedful.storage.scratch_folders import scratch_folder

_PURPOSE = "serve"


def temporary_folder() -> Path:
    """Make a temporary folder that only this user can read.

    Returns:
        The folder; whoever asked removes it.

    Raises:
        OutputError: if it cannot be made.
    """
    place = Path(tempfile.gettempdir())
    try:
        if any(each.name.startswith(f"heedful-{_PURPOSE}-") for each in (place, *place.parents)):
            restore(place)
        return scratch_folder(_PURPOSE)
    except OSError as error:
        raise OutputError(f"no temporary folder can be made: {error.strerror}. Set TMPDIR.") from error


def restore(folder: Path) -> None:
    """Make a private folder, and those around it, if they are missing.

    Args:
        folder: inside the private folder of a server, or that folder itself.

    Raises:
        OSError: if one cannot be made, or belongs to somebody else by now, who could read what is written there.
    """
    if not folder.parent.exists():
        restore(folder.parent)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        private = stat.S_ISDIR(found.st_mode) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not private or found.st_uid != os.geteuid():
            raise PermissionError(f"{folder}: is another one's by now") from None
