"""Writing a file so that a crash at any moment leaves either the old content or the new one."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import platform
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from heedful.errors import OutputError
from heedful.storage.manifest import listed
from heedful.storage.overwriting import leads_to, note_written

TEMPORARY = ".tmp-"
"""Beginning of the names of files and folders that are being written."""

_TOKEN = re.compile(r"(?P<machine>[0-9a-f]{8})\.(?P<process>\d+)\.(?P<start>\d+)")
_ABANDONED = re.compile(re.escape(TEMPORARY) + r"new-.+-[a-z0-9_]{8}")
"""Temporary folders of the first versions, whose names hold no token."""
_FOREIGN_AGE = 24 * 3600.0
"""Seconds after which what nobody here can judge counts as abandoned."""


def token() -> str:
    """Return the token of this process, the same for as long as it lives."""
    process = os.getpid()
    return f"{_machine()}.{process}.{_start(process)}"


def is_dead(name: str) -> bool | None:
    """Return whether the process that a name's token stands for has ended.

    Returns None where that cannot be known from here: the name has no token, or one of another machine.
    """
    tokens = list(_TOKEN.finditer(name))
    if not tokens or tokens[-1]["machine"] != _machine() or os.name != "posix":
        return None
    found = tokens[-1]  # the name of what is written stands before it
    process = int(found["process"])
    try:
        os.kill(process, 0)  # signal 0 only asks whether there is such a process
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass  # it is another user's
    return _start(process) != int(found["start"])


def sweep(folder: Path) -> None:
    """Remove temporary files and folders that dead processes left in a folder; never one of a living process.

    What another machine wrote, or the first versions of Heedful, is removed when it has not changed for a day. Whatever
    else has such a name stays.

    Args:
        folder: looked through, not the folders in it. Only whoever writes there calls this; a reader never does.
    """
    with contextlib.suppress(OSError):  # what cannot be listed or removed is in nobody's way
        for entry in list(folder.iterdir()):
            if entry.name.startswith(TEMPORARY) and (
                _TOKEN.search(entry.name) or _ABANDONED.fullmatch(entry.name)
            ):
                _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: Path) -> None:
    with contextlib.suppress(OSError):
        dead = is_dead(entry.name)
        if dead is None:
            dead = time.time() - entry.lstat().st_mtime > _FOREIGN_AGE
        if dead and entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif dead:
            entry.unlink()


@functools.cache
def _machine() -> str:
    """Return 8 digits that stand for this machine; its name cannot be read from them."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return hashlib.sha256(f"{platform.node()}\0{namespace}".encode()).hexdigest()[:8]


def _start(process: int) -> int:
    """Return when a process started, in ticks since the machine did; 0 if the system does not tell, -1 if it is over.

    A process that was killed and that nobody has waited for is over, though it still has its number.
    """
    try:
        # The second field is the program's name in parentheses, which may hold anything.
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        )
        state, *rest = fields.split()
        return -1 if state in ("Z", "X") else int(rest[18])
    except (OSError, IndexError, ValueError):
        return 0


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's errors of which freeing space is the remedy."""


def temporary_name(what: str = "") -> str:
    """Return the beginning of a temporary name that says which process it belongs to; see `heedful.storage.writing`."""
    return f"{TEMPORARY}{what}{token()}-"


def remedy(number: int | None) -> str:
    """Return what to do about an error of the system while writing, as a sentence.

    Args:
        number: the error's ``errno``; None if it has none.

    Returns:
        Advice to free space only where space is the cause.
    """
    if number in NO_SPACE:
        return "Choose another folder or free some space."
    if number == errno.ENOENT:
        return "Something removed it while it was being written. Run the command again."
    return "Choose another folder."


def _in_the_way(path: Path, reason: str) -> str:
    """Return what stands where a folder should be."""
    if path.is_symlink() and not path.exists():
        return "a link there leads to no folder"
    place = next((each for each in (path, *path.parents) if each.exists()), path)
    return reason if place.is_dir() else f"{place} is a file, not a folder"


@contextlib.contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn an operating system's refusal to write below ``path`` into an `OutputError`.

    Args:
        path: what is being written.

    Yields:
        Nothing.

    Raises:
        OutputError: when the body raises an OSError.
    """
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in (errno.EEXIST, errno.ENOTDIR) and error.filename:
            reason = _in_the_way(Path(os.fsdecode(error.filename)), reason)
        raise OutputError(f"{path}: cannot write: {reason}. {remedy(error.errno)}") from error


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file atomically, half a character as its escape, as JSON has it; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; see `replacing`.

    Args:
        path: the file.
        content: its content.

    Raises:
        OutputError: if it cannot be written; the old content then stays.
    """
    with replacing(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file atomically, piece by piece: temporary file beside it, sync, rename.

    A symbolic link stays one: the file that it leads to is written. A new file gets the mode that the umask leaves it,
    and a replaced one keeps its mode, and its owner where the system allows that. A pipe or a device is written to as
    it is, at the end.

    Args:
        path: the file; its folder is made.

    Yields:
        A stream that may be written and sought in; where the body raises, the old content stays.

    Raises:
        OutputError: if it cannot be written; the old content then stays.
        UsageError: if it is a file that the same command reads (`heedful.storage.overwriting`).
    """
    with plain_errors(path):
        path = leads_to(path)
        note_written(path)
        old = _standing(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            with _passed_on(path) as stream:
                yield stream
            return
        target = Path(os.path.realpath(path))
        _refuse_part_of_model(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        name = target.parent / f"{temporary_name()}{os.urandom(4).hex()}"
        try:
            # Only the owner sees the new content of a file that may be secret, until it has the old file's mode.
            with os.fdopen(_created(name, 0o666 if old is None else 0o600), "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if old is not None:
                take_over(name, old)
            os.replace(name, target)
        except BaseException:
            name.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)


def take_over(new: Path, old: os.stat_result) -> None:
    """Give what takes a place the owner, where the system allows that, and the mode of what stood there."""
    if os.name == "posix" and (old.st_uid, old.st_gid) != (new.stat().st_uid, new.stat().st_gid):
        with contextlib.suppress(OSError):
            os.chown(new, old.st_uid, old.st_gid)
    new.chmod(stat.S_IMODE(old.st_mode))


def _created(name: Path, mode: int) -> int:
    """Make a file that nobody else has made; the system takes from the mode what the umask says."""
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)


def _standing(path: Path) -> os.stat_result | None:
    """Return the status of what a path leads to, None for nothing; refuse what no file can take the place of."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"{path}: is a folder, and a file goes there. Name a file in it.")
    if stat.S_ISSOCK(status.st_mode) or stat.S_ISBLK(status.st_mode):
        raise OutputError(f"{path}: is a socket or a disk, and a file goes there. Choose another name.")
    return status


def _refuse_part_of_model(target: Path) -> None:
    """Refuse to replace a single file of a model folder or a checkpoint, which would no longer load."""
    if target.name in listed(target.parent):
        raise OutputError(
            f"{target}: is a part of the model in {target.parent}, which would no longer load. Choose another name."
        )


@contextlib.contextmanager
def _passed_on(path: Path) -> Iterator[IO[bytes]]:
    """Collect what goes to a pipe or a device, which cannot be sought in or replaced, and write it at the end."""
    with tempfile.TemporaryFile() as stream:
        yield stream
        stream.seek(0)
        with path.open("wb") as out:
            shutil.copyfileobj(stream, out)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last through a loss of power, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
