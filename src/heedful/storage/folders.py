"""Folders that are replaced as a whole, and read as a whole while another process replaces them."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from heedful.errors import ArtifactError, OutputError
from heedful.storage.checked_paths import checked_path
from heedful.storage.layout import ENVIRONMENT, METRICS_LOG
from heedful.storage.ownership import (
    is_empty,
    keep_foreign,
    keep_the_rest,
    refuse_place,
    remove_run,
    remove_tree,
)
from heedful.storage.writing import TEMPORARY, plain_errors, sweep, sync_folder, take_over, temporary_name

_T = TypeVar("_T")
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_CANNOT_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
_LOADS = 50
"""How often a folder that is replaced again and again is read before its reader gives up."""
_PAUSE = 0.01
"""Seconds between two of them."""


@contextlib.contextmanager
def replace_folder(path: Path) -> Iterator[Path]:
    """Fill a temporary folder, then put it in the place of ``path``.

    Nothing is lost that Heedful did not write: a folder with other things alone is refused, and what lies beside our
    files in a folder of ours is in the new folder too. A symbolic link to the folder stays one, and the folder and its
    files keep their modes.

    Whatever the body raises, the old folder stays as it was. On Linux the two folders are exchanged in one step, so
    that there is always a whole folder at ``path``. Where the system or the file system cannot do that, the old folder
    is renamed to ``.tmp-old-NAME`` first: readers look there too (`stands`), and after a kill between the two renames
    `recover_folder` puts it back.

    Args:
        path: the folder to make or replace.

    Yields:
        The temporary folder to fill.

    Raises:
        OutputError: if something cannot be written, or something else is in the folder's place.
    """
    with plain_errors(path):
        path = _real(checked_path(path, "folder"))
        refuse_place(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        recover_folder(path)
        old = path.stat() if path.exists() else None
        with _filled(path, private=old is not None) as new:
            yield new
            _sync_files(new)
            if old is not None:
                _take_over_modes(path, new)
                keep_foreign(path, new)
                take_over(new, old)
            try:
                if not path.exists():
                    os.replace(new, path)
                elif _exchange(new, path):  # what somebody put there meanwhile is kept as well
                    keep_the_rest(new, path)
                else:
                    os.replace(path, _old(path))
                    os.replace(new, path)
                    keep_the_rest(_old(path), path)
                sync_folder(path.parent)
            except BaseException:
                recover_folder(path)
                raise
            remove_tree(_old(path))


@contextlib.contextmanager
def add_folder(path: Path) -> Iterator[Path]:
    """Fill a temporary folder, then put it at ``path`` unless another process has put one there: the first one stays.

    Args:
        path: the folder to make; its content is the same whichever process makes it.

    Yields:
        The temporary folder to fill.

    Raises:
        OutputError: if something cannot be written.
    """
    with plain_errors(path):
        path = _real(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        with _filled(path) as new:
            yield new
            _sync_files(new)
            try:
                os.rename(new, path)
            except OSError:
                if not path.is_dir():
                    raise
            sync_folder(path.parent)


def recover_folder(path: Path) -> None:
    """Undo what a killed `replace_folder` left behind: put the old folder back, drop the half-written ones.

    Only the writer of ``path`` calls this. A temporary folder of a living process stays.

    Args:
        path: the folder that was to be replaced.
    """
    path = _real(path)
    old = _old(path)
    if old.exists():
        if path.exists():
            remove_tree(old)
        else:
            os.replace(old, path)
    sweep(path.parent)


def stands(path: Path) -> Path | None:
    """Return where a folder is to be read; nothing is changed.

    Args:
        path: the folder.

    Returns:
        The folder itself, or the old one while a new one is put in its place; None where there is neither.
    """
    # The path twice: between the first two looks a writer may have come to its end.
    return next((place for place in (path, _old(_real(path)), path) if os.path.isdir(place)), None)


def read_settled(path: Path, read: Callable[[Path], _T]) -> _T:
    """Read a folder as a whole, although another process may replace it meanwhile; nothing is changed on disk.

    If another folder has come to ``path`` before ``read`` has ended, what was read may be half the one and half the
    other: it is dropped, and the new folder is read, up to 50 times, 0.01 s apart.

    Args:
        path: the folder.
        read: reads the folder at the path that it is given, and raises ArtifactError for one that is not whole.

    Returns:
        What ``read`` returned for one folder.

    Raises:
        ArtifactError: by ``read``, of a folder that did not change; or if it changed every time.
    """
    for _ in range(_LOADS):
        place = stands(path) or path
        if os.path.isfile(place):
            raise ArtifactError(f"{path}: is a file; a model is a folder. Give the folder that holds it.")
        with _open(path, place) as same:
            try:
                result, problem = read(place), None
            except ArtifactError as error:
                result, problem = None, error
            # The folder is held open: no other one can have its number meanwhile.
            if same():
                if problem is not None:
                    raise problem
                return result  # type: ignore[return-value]
        time.sleep(_PAUSE)
    raise ArtifactError(
        f"{path}: was replaced {_LOADS} times while it was read. Wait for the process that writes it, or read a copy."
    )


def remove_folder(path: Path) -> None:
    """Delete the files of a run of a study or a search if it is there; what else is in its folder stays.

    Args:
        path: the folder.

    Raises:
        OutputError: if it is not a folder that Heedful wrote, or cannot be deleted.
    """
    if not path.exists():
        return
    marks = {ENVIRONMENT, METRICS_LOG}
    if not path.is_dir() or not (marks & {entry.name for entry in path.iterdir()} or is_empty(path)):
        raise OutputError(f"{path}: exists and is not a run of Heedful's; choose another --out")
    with plain_errors(path):
        remove_run(path)


def _old(path: Path) -> Path:
    """Name where the old folder waits while the new one takes its place."""
    return path.parent / f"{TEMPORARY}old-{path.name}"


def _real(path: Path) -> Path:
    """Return where a path leads, so that a link to a folder stays one."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def _filled(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Make a temporary folder beside ``path``; whatever is at its name in the end is removed."""
    new = path.parent / f"{temporary_name(f'new-{path.name}-')}{os.urandom(4).hex()}"
    new.mkdir(0o700 if private else 0o777)  # from which the system takes what the umask says
    try:
        yield new
    finally:
        remove_tree(new)


def _take_over_modes(path: Path, new: Path) -> None:
    """Give the files of a new folder the modes and owners of those whose places they take."""
    for file in new.iterdir():
        with contextlib.suppress(FileNotFoundError):
            take_over(file, (path / file.name).lstat())


def _sync_files(new: Path) -> None:
    """Make the files of a folder last through a loss of power."""
    for file in new.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())


@contextlib.contextmanager
def _open(path: Path, place: Path) -> Iterator[Callable[[], bool]]:
    """Hold the folder at a place open; yields a function that says whether it still is what ``path`` stands for."""
    try:
        handle = os.open(place, os.O_RDONLY)
    except PermissionError:
        yield lambda: True  # whoever reads it says so
        return
    except OSError:
        yield lambda: stands(path) is None
        return
    try:
        # The old folder is being deleted as soon as the new one is in its place.
        yield lambda: stands(path) == place and _number(os.fstat(handle)) == _number_at(place)
    finally:
        os.close(handle)


def _number(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _number_at(place: Path) -> tuple[int, int] | None:
    try:
        return _number(os.stat(place))
    except OSError:
        return None


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step (Linux); return False where that cannot be done."""
    call = _renameat2()
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))


@functools.cache
def _renameat2() -> Callable[..., int] | None:
    """Return the function of the C library, None where it has none."""
    if os.name != "posix":
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


def user_cache() -> Path:
    """Return the folder that XDG_CACHE_HOME names, or ``~/.cache``; a relative name is ignored, as XDG asks."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".cache"
