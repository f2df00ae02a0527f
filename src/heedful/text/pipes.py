"""Pipes as files: ``<(zcat x.gz)``, ``/dev/stdin`` and named pipes, which can be read but once and have no length."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from heedful.errors import DataError
from heedful.text.limits import UNPACKED

_PACKED = {
    b"\x1f\x8b": ".gz",
    b"\xfd7zXZ\0": ".xz",
    b"BZh": ".bz2",
    b"(\xb5/\xfd": ".zst",
    b"PAR1": ".parquet",
}
"""First bytes to the ending of a name that says what follows."""
_LIBRARIES = {".gz": "gzip", ".xz": "lzma", ".bz2": "bz2"}
"""Modules that open what has this ending; each is imported when it is needed."""
_HEAD, _PART = 64, 1 << 20
_FOLDERS: list[Path] = []
_ORIGINALS: dict[str, str] = {}
"""Files of `spooled`, with the pipes that they were."""
_KEPT: dict[tuple[int, int], Path] | None = None


def is_pipe(path: Path) -> bool:
    """Return whether a path is a pipe, a socket or a terminal, and no file."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


def is_spooled(path: Path) -> bool:
    """Return whether a file is what `spooled` made of a pipe."""
    return path.parent in _FOLDERS


def with_pipes_named(text: str) -> str:
    """Return a message with the pipes in place of the files that `spooled` made of them."""
    for file, pipe in _ORIGINALS.items():
        text = text.replace(file, pipe)
    return text


@contextlib.contextmanager
def pipes_kept() -> Iterator[None]:
    """Within the body, what a pipe held is kept, so that whoever asks for it again gets the same file."""
    global _KEPT
    before, _KEPT = _KEPT, {}
    try:
        yield
    finally:
        _KEPT = before


def spooled(path: Path) -> Path:
    """Read a pipe to its end into a temporary file, which is removed when the process ends.

    Args:
        path: see `is_pipe`.

    Returns:
        The file. Its name is that of the pipe; what is compressed, Parquet or JSON gets the ending that says so.

    Raises:
        DataError: if the pipe cannot be read.
    """
    status = os.stat(path)
    key = status.st_dev, status.st_ino
    if _KEPT is not None and key in _KEPT:
        return _KEPT[key]
    from heedful.storage.scratch_folders import scratch_folder

    folder = scratch_folder("pipe")
    _FOLDERS.append(folder)
    if len(_FOLDERS) == 1:
        atexit.register(_remove)
    try:
        with path.open("rb") as pipe, (held := folder / path.name).open("wb") as file:
            _copy(pipe, file, path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    found = _named_by_content(held)
    _ORIGINALS[str(found)] = str(path)
    if _KEPT is not None:
        _KEPT[key] = found
    return found


def _copy(pipe: IO[bytes], file: IO[bytes], path: Path) -> None:
    """Copy a pipe; one that has no end, such as /dev/zero, is refused."""
    left = UNPACKED.value()
    while part := pipe.read(min(_PART, left + 1)):
        left -= len(part)
        if left < 0:
            raise UNPACKED.exceeded(str(path), "the pipe gives more than")
        file.write(part)


def _named_by_content(file: Path) -> Path:
    """Give a file without an ending the one that its first bytes promise, of what is compressed that of its content."""
    if file.suffix:
        return file
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
    suffix = next((name for mark, name in _PACKED.items() if head.startswith(mark)), "")
    if suffix in _LIBRARIES:
        from lzma import LZMAError

        library = importlib.import_module(_LIBRARIES[suffix])
        with contextlib.suppress(OSError, EOFError, LZMAError), library.open(file) as stream:
            head = stream.read(_HEAD)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        suffix = f".jsonl{suffix}"
    return file.rename(file.with_name(file.name + suffix)) if suffix else file


def _remove() -> None:
    for folder in _FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
