"""Temporary folders that say whose they are, so that those of a process that was killed go with the next one."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from heedful.storage.writing import is_dead, token

_BEGINNING = "heedful-"


def scratch_folder(purpose: str) -> Path:
    """Make a folder for temporary files that only this user can read, and remove what killed processes left there.

    A process that the system kills cannot remove its folder, and a server that is started again after each such end
    would fill the disk with copies of its model.

    Args:
        purpose: a word for its name, ``heedful-PURPOSE-...``.

    Returns:
        The folder, in the folder for temporary files; whoever asked removes it.

    Raises:
        OSError: if it cannot be made.
    """
    place = Path(tempfile.gettempdir())
    with contextlib.suppress(OSError):  # what cannot be listed or removed is in nobody's way
        for entry in list(place.glob(f"{_BEGINNING}*")):
            if is_dead(entry.name) and _is_own_folder(entry):
                shutil.rmtree(entry, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_BEGINNING}{purpose}-{token()}-"))


def _is_own_folder(entry: Path) -> bool:
    return entry.is_dir() and not entry.is_symlink() and entry.lstat().st_uid == os.geteuid()
