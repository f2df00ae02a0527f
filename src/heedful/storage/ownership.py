"""What in a folder is Heedful's: nothing else is ever deleted or replaced."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from heedful.errors import ArtifactError, OutputError
from heedful.storage.fields import is_list, is_table, read_json
from heedful.storage.layout import (
    CHECKPOINTS,
    ENVIRONMENT,
    LATEST,
    METRICS_LOG,
    MODEL,
    RUN_FILES,
    STATE_FILES,
    holds_run,
)
from heedful.storage.lock import LOCK
from heedful.storage.manifest import MANIFEST, MODEL_FILES, listed
from heedful.storage.writing import TEMPORARY, plain_errors

WITHOUT_NETWORK = {"network": "none"}
"""In the environment of a run that trains no network: such a run writes no log."""

_KINDS = (frozenset({*MODEL_FILES, MANIFEST}), frozenset({*STATE_FILES, MANIFEST}))
"""Names of the files of a model, and of a checkpoint."""

_NO_LINKS = (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""The system's errors by which a file system says that a file cannot have a second name there."""


def refuse_place(path: Path) -> None:
    """Refuse a place in which no folder can be put.

    Args:
        path: the folder to make or replace, no link.

    Raises:
        OutputError: if a file is there; or if a folder is there that cannot give way to another one, or that is not
            Heedful's and holds something.
    """
    if not os.path.lexists(path):
        return
    with plain_errors(path):
        path.stat()
    if not path.is_dir():
        raise OutputError(f"{path}: is a file, and a folder goes there. Choose another name or remove it.")
    if path.samefile(os.curdir):
        raise OutputError(
            f"{path}: is the folder that you work in, and cannot be replaced. Name a folder in it."
        )
    if os.path.ismount(path):
        raise OutputError(f"{path}: is where a disk is mounted, and cannot be replaced. Name a folder in it.")
    if not (_is_own_place(path) or own_names(path) or is_empty(path)):
        raise OutputError(
            f"{path}: holds other files and nothing that Heedful wrote, so nothing was written. Name a new folder, "
            f"such as {path / MODEL}, or an empty one."
        )


def keep_foreign(path: Path, new: Path) -> None:
    """Give what is not Heedful's in a folder a second name in the folder that takes its place.

    Files are linked where the system can do that, so that even a program that has one open goes on with it.

    Args:
        path: the old folder, or none.
        new: the folder that takes its place, with all that is written there.

    Raises:
        OutputError: naming what is in the way, if it has the name of something that is written.
    """
    if not path.is_dir():
        return
    if blocking := foreign_names(path, [entry.name for entry in new.iterdir()]):
        raise OutputError(
            f"{path}: Heedful did not write {', '.join(blocking)} there, and would replace it now. Choose another "
            "folder, or move it away."
        )
    keep_the_rest(path, new)


def keep_the_rest(path: Path, new: Path) -> None:
    """Give what is not Heedful's in a folder a second name in another one; what has that name there stays."""
    own = own_names(path)
    for entry in path.iterdir():
        if entry.name not in own and not _is_passing(entry.name):
            give_second_name(entry, new / entry.name)


def foreign_names(path: Path, written: Collection[str]) -> list[str]:
    """Return which names of what is to be written are taken in a folder by what is not Heedful's.

    Args:
        path: a folder, or what is in its place.
        written: the names.

    Returns:
        Those that are taken, sorted.
    """
    if not path.is_dir():
        return [path.name] if path.exists() else []
    return sorted({entry.name for entry in path.iterdir()}.intersection(written) - own_names(path))


def give_second_name(entry: Path, other: Path) -> None:
    """Let a file, a link or a folder be found at another path too; what is there already stays.

    Args:
        entry: what is there.
        other: where it is to be found too.

    Raises:
        OutputError: if another disk is mounted in a folder.
    """
    if entry.is_dir() and not entry.is_symlink():
        if os.path.ismount(entry):
            raise OutputError(
                f"{entry}: another disk is mounted there, so that the folder cannot be replaced. Choose another one."
            )
        with contextlib.suppress(FileExistsError):
            other.mkdir()
        for inner in entry.iterdir():
            give_second_name(inner, other / inner.name)
        shutil.copystat(entry, other)
        return
    try:
        os.link(entry, other, follow_symlinks=False)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(entry, other, follow_symlinks=False)
        if not other.is_symlink():
            with other.open("rb") as stream:
                os.fsync(stream.fileno())


def own_names(folder: Path) -> frozenset[str]:
    """Return the names of the files in a model folder or a checkpoint that Heedful wrote.

    Args:
        folder: a folder.

    Returns:
        What its manifest lists, and the manifest itself. Where the manifest is damaged, everything, if the folder holds
        all files of a model or a checkpoint and nothing else. Empty for a folder that is not Heedful's.
    """
    if names := listed(folder):
        return names
    with contextlib.suppress(OSError):
        found = {entry.name for entry in folder.iterdir() if not _is_passing(entry.name)}
        if found in _KINDS:
            return frozenset(found)
    return frozenset()


def own_bytes(folder: Path) -> int:
    """Return the size of the files that Heedful wrote in a model folder; a user's files beside them do not count."""
    return sum(path.stat().st_size for name in own_names(folder) if (path := folder / name).is_file())


def remove_own(folder: Path) -> None:
    """Delete the files that Heedful wrote in a model folder or a checkpoint, and the folder if nothing is left in it.

    A symbolic link to the folder stays one.
    """
    for name in sorted(own_names(folder)):
        (folder / name).unlink(missing_ok=True)
    remove_if_empty(folder)


def remove_run(folder: Path, *, keep: bool = False) -> None:
    """Delete the files of a run, the environment last: what a removal that is cut off leaves can be removed again.

    Args:
        folder: of the run; what else is in it stays.
        keep: whether the folder itself stays although nothing is left in it.
    """
    for inner in (folder / MODEL, folder / CHECKPOINTS / LATEST):
        if inner.is_dir():
            remove_own(inner)
    remove_if_empty(folder / CHECKPOINTS)
    for name in reversed(RUN_FILES):
        if name != METRICS_LOG or keeps_log(folder):
            (folder / name).unlink(missing_ok=True)
    if not keep:
        remove_if_empty(folder)


def keeps_log(folder: Path) -> bool:
    """Return whether the run in a folder is of a kind that keeps a log; in any other folder a log is a user's file."""
    with contextlib.suppress(ArtifactError):
        return not read_json(folder / ENVIRONMENT, dict).items() >= WITHOUT_NETWORK.items()
    return True


def remove_if_empty(folder: Path) -> None:
    """Delete a folder in which nothing is but a lock or what was being written; a link to one stays."""
    if folder.is_dir() and not folder.is_symlink() and is_empty(folder):
        for entry in list(folder.iterdir()):
            remove_tree(entry)
        try:
            folder.rmdir()
        except OSError as error:
            # Another process has asked for the lock: its file is in the folder again.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def remove_tree(place: Path) -> None:
    """Delete a folder with all that is in it, a file, or the link that stands for one, if it is there."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def is_empty(folder: Path) -> bool:
    """Return whether a folder holds nothing but locks and files that are being written."""
    return all(_is_passing(entry.name) for entry in folder.iterdir())


def _is_passing(name: str) -> bool:
    return name.startswith((LOCK, TEMPORARY))


def _is_own_place(path: Path) -> bool:
    """Return whether a folder is where a run keeps its model or its state, whatever a user has put in it since."""
    if path.name == LATEST and path.parent.name == CHECKPOINTS:
        return holds_run(path.parent.parent)
    # A run of linear parts alone has neither a log nor checkpoints; every run has an environment.
    return path.name == MODEL and (holds_run(path.parent) or (path.parent / ENVIRONMENT).is_file())


def refuse_foreign_results(folder: Path, names: Sequence[str], *, own: bool) -> None:
    """Refuse a folder in which results would replace what somebody else wrote; nothing is changed.

    Args:
        folder: where results are written, which may not be there yet.
        names: the files that are written.
        own: whether those that are there are results of Heedful's, by `is_record` or otherwise.

    Raises:
        OutputError: naming what would be replaced.
    """
    taken = [name for name in names if os.path.lexists(folder / name)]
    if taken and not own:
        raise OutputError(
            f"{folder}: Heedful did not write {', '.join(taken)} there, and would replace it now. Choose another "
            "--out, or move it away."
        )


def is_record(file: Path, fields: Collection[str]) -> bool:
    """Return whether a file is JSON that Heedful writes: a table, or a list of tables.

    Args:
        file: the file, which may not be there.
        fields: what the table, or the first one, must have.

    Returns:
        Whether it is.
    """
    try:
        found = read_json(file, object, finite=False)
    except ArtifactError:
        return False
    first = found[0] if is_list(found) and found else found
    return is_table(first) and all(name in first for name in fields)
