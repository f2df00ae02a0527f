"""Writing files so that a crash at any moment leaves either the old state or the new one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from heedful.errors import OutputError, UsageError

TEMPORARY = ".tmp-"
"""Beginning of the names of files and folders that are being written."""


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def told_plainly(path: Path) -> Iterator[None]:
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
        raise OutputError(
            f"{path}: cannot write: {reason}. Choose another folder or free some space."
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file atomically; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically: temporary file beside it, sync, rename.

    Args:
        path: the file.
        content: its content.

    Raises:
        OutputError: if it cannot be written; the old content then stays.
    """
    with told_plainly(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).chmod(0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


@contextlib.contextmanager
def replace_folder(path: Path) -> Iterator[Path]:
    """Fill a temporary folder, then put it in the place of ``path`` by renaming.

    Whatever the body raises, the old folder stays as it was. A kill between the two renames leaves the old folder
    beside its place under a temporary name; `recover_folder` puts it back. One process at a time may write a folder:
    a second one would take the first one's temporary folder for a dead one's.

    Args:
        path: the folder to make or replace.

    Yields:
        The temporary folder to fill.

    Raises:
        OutputError: if something cannot be written, or a file is in the folder's place.
    """
    with told_plainly(path):
        if path.is_file():
            raise OutputError(
                f"{path}: is a file, and a folder goes there. Choose another name or remove it."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        recover_folder(path)
        new = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}new-{path.name}-", dir=path.parent))
        old = path.parent / f"{TEMPORARY}old-{path.name}"
        try:
            yield new
            new.chmod(0o755)
            for file in new.rglob("*"):
                if file.is_file():
                    with file.open("rb") as stream:
                        os.fsync(stream.fileno())
            if path.exists():
                os.replace(path, old)
            os.replace(new, path)
            _sync_folder(path.parent)
            shutil.rmtree(old, ignore_errors=True)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            recover_folder(path)
            raise


def recover_folder(path: Path) -> None:
    """Undo what a killed `replace_folder` left behind: put the old folder back, drop half-written ones."""
    old = path.parent / f"{TEMPORARY}old-{path.name}"
    if old.exists():
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.replace(old, path)
    # mkdtemp's suffix holds no hyphen, so the half-written folder of a neighbour named "<name>-2" is not ours.
    half_written = re.compile(re.escape(f"{TEMPORARY}new-{path.name}-") + r"[^-]+")
    for stale in path.parent.glob(f"{TEMPORARY}new-*"):
        if half_written.fullmatch(stale.name):
            shutil.rmtree(stale, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_folder(path: Path) -> None:
    """Delete a run folder of a study or a search if it is there.

    Args:
        path: the folder.

    Raises:
        OutputError: if it is not a folder that Heedful wrote, or cannot be deleted.
    """
    if not path.exists():
        return
    marks = ("env.json", "metrics.jsonl", "lock.db")
    if not path.is_dir() or (any(path.iterdir()) and not any((path / mark).exists() for mark in marks)):
        raise OutputError(f"{path}: exists and is not a run of Heedful's; choose another --out")
    with told_plainly(path):
        shutil.rmtree(path)


@contextlib.contextmanager
def alone(folder: Path, what: str) -> Iterator[None]:
    """Keep a second process out of a folder; the system lets go of the folder when this process ends.

    Args:
        folder: to have for oneself; it is made if it is not there.
        what: is at work in it, for the message.

    Yields:
        Nothing.

    Raises:
        UsageError: if another process is at work there.
        OutputError: if the folder cannot be made.
    """
    with told_plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(_locked(folder, what)):
        yield


def _locked(folder: Path, what: str) -> sqlite3.Connection:
    file = folder / "lock.db"
    lock = None
    try:
        lock = sqlite3.connect(file, timeout=0.0)
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if lock is not None:
            lock.close()
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            raise UsageError(
                f"{folder}: another {what} is at work there; wait for it, or choose another --out"
            ) from error
        raise OutputError(
            f"{file}: cannot write: {error}. Choose another folder or free some space."
        ) from error
    return lock
