"""No file is written over by an operation that reads it, whatever the file is called where.

Files are distinguished by device and number, so that a hard link, a symbolic link, another spelling of the path and an
open descriptor are all the same file. An operation is one command, or one call of a Python function that reads and
writes files. What it reads and what it is writing are noted from both sides, also where only a setting or a redirection
of the shell names the file; `heedful.cli.guards` refuses before anything is computed what the options name.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from heedful.errors import UsageError

_Number = tuple[int, int]


@dataclass
class _Operation:
    """What one operation reads and writes.

    Attributes:
        read: number of each file that is read, to its name in messages.
        written: number of each file that is being replaced, to the same.
    """

    read: dict[_Number, str] = field(default_factory=dict)
    written: dict[_Number, str] = field(default_factory=dict)


_OPERATION: ContextVar[_Operation | None] = ContextVar("operation", default=None)


@contextlib.contextmanager
def operation() -> Iterator[None]:
    """Refuse, while the body runs, to write a file that it reads; an operation inside another one is a part of it."""
    if _OPERATION.get() is not None:
        yield
        return
    before = _OPERATION.set(_Operation())
    try:
        yield
    finally:
        _OPERATION.reset(before)


def leads_to(path: Path) -> Path:
    """Return what a path leads to when it is written, which may lie behind folders that are only then made.

    ``new/../pool.csv`` is no file as long as there is no folder ``new``, and it is pool.csv as soon as there is one.

    Args:
        path: of a file or a folder.

    Returns:
        The path itself where something is there, otherwise its absolute path without links and steps back.
    """
    return path if os.path.exists(path) else Path(os.path.realpath(path))


def note_read(file: Path | int) -> None:
    """Note a file that is read.

    Args:
        file: its path, or an open descriptor.

    Raises:
        UsageError: if the operation writes it.
    """
    now = _OPERATION.get()
    number = _number(file) if now is not None else None
    if now is None or number is None:
        return
    name = "standard input" if isinstance(file, int) else str(file)
    if number in now.written:
        raise _clash(now.written[number], name)
    now.read.setdefault(number, name)


def note_written(path: Path) -> None:
    """Note a file that is about to be replaced.

    Args:
        path: the file, which may not be there yet.

    Raises:
        UsageError: naming both, if the operation has read it.
    """
    now = _OPERATION.get()
    number = _number(path) if now is not None else None
    if now is None or number is None:
        return
    if number in now.read:
        raise _clash(str(path), now.read[number])
    now.written[number] = str(path)


def _clash(output: str, source: str) -> UsageError:
    return UsageError(f"{output}: is a file that the same command reads ({source}); name another one")


def _number(file: Path | int) -> _Number | None:
    """Return device and number of a file; None where there is none, and for a pipe or a terminal."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):  # the second: a path that no file can have
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
