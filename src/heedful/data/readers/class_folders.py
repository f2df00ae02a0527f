"""A folder of text files a class: ``reviews/positive/1.txt``, ``reviews/negative/2.txt``."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from heedful.data.readers.reading import note_once
from heedful.data.readers.record_files import Record
from heedful.data.readers.text_lines import DAMAGE, check_encoding, damaged, encoding_of, open_text
from heedful.errors import DataError
from heedful.text.limits import LINE
from heedful.text.text_files import find_file


def is_class_folder(path: Path) -> bool:
    """Return whether a path is a folder with two folders or more that hold files, and with no files of its own."""
    if not os.path.isdir(path):
        return False
    inner = _entries(path)
    return len(inner) > 1 and all(each.is_dir() for each in inner) and any(map(_files, inner))


def folder_records(folder: Path, encoding: str = "utf-8") -> Iterator[tuple[int, Record]]:
    """Read the files of every class, in the order of their names.

    Args:
        folder: of the classes.
        encoding: of the files.

    Yields:
        The 1-based number of the file, and the fields "text", "label" (the name of its folder) and "file".

    Raises:
        DataError: naming the file, if it cannot be read, is in another encoding or is too long.
    """
    check_encoding(encoding)
    row = 0
    for inner in _entries(folder):
        files, below = _files(inner), [each.name for each in _entries(inner) if each.is_dir()]
        if below or not files:
            what = f"the folders in it are not read: {', '.join(below[:5])}" if below else "holds no files"
            note_once(f"{inner}: {what}")
        for file in files:
            row += 1
            yield (
                row,
                {
                    "text": _text(file, encoding),
                    "label": inner.name,
                    "file": file.relative_to(folder).as_posix(),
                },
            )


def folder_problem(path: Path) -> str:
    """Return why a folder is none of classes."""
    entries = _entries(path)
    files = [each.name for each in entries if not each.is_dir()]
    if files:
        why = f"it holds files itself: {', '.join(files[:5])}"
    elif len(entries) < 2:
        why = f"it holds {f'the folder {entries[0].name} alone' if entries else 'nothing'}"
    else:
        why = f"the folders in it hold no files: {', '.join(each.name for each in entries[:5])}"
    return f"{path}: is a folder, but not one with a folder of text files for each class: {why}"


def found_data(path: str | Path) -> Path:
    """Return the file of a name, or the folder of classes that it is; see `heedful.text.text_files.find_file`."""
    path = Path(path)
    return path if is_class_folder(path) else find_file(path)


def find_named(name: str, root: Path | None) -> Path:
    """Find a file, or a folder of text files, that the settings name: in the folder of data sets, else where we work.

    Args:
        name: its name, absolute or relative; the suffix of a compression may be left out.
        root: the folder of data sets, or None.

    Returns:
        A file that exists.

    Raises:
        DataError: if there is none.
    """
    if root is None or os.path.isabs(name):
        return found_data(name)
    try:
        return found_data(root / name)
    except DataError as error:
        if os.path.lexists(root / name) and not os.path.lexists(name):
            with contextlib.suppress(DataError):
                return found_data(name)  # it may be compressed
            raise
        inside = str(error)
    try:
        return found_data(name)
    except DataError as error:
        if os.path.lexists(name):
            raise  # it says what is wrong with it
        offered = [message for message in (str(error), inside) if "did you mean" in message]
        if offered:
            raise DataError(" ".join(offered)) from None
        raise DataError(f"{error}. It is not in the folder of data sets, {root}, either") from None


def sum_of_folder(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files of a folder of classes."""
    whole = hashlib.sha256()
    for inner in _entries(folder):
        for file in _files(inner):
            whole.update(f"{file.relative_to(folder).as_posix()}\n".encode("utf-8", "surrogateescape"))
            with file.open("rb") as stream:
                whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror or error}") from error


def _files(folder: Path) -> list[Path]:
    return [each for each in _entries(folder) if each.is_file()]


def _text(file: Path, encoding: str) -> str:
    longest = LINE.value()
    try:
        with open_text(file, encoding) as stream:
            raw = stream.read(longest + 1)
            used = encoding_of(stream, encoding)
    except DAMAGE as error:
        raise damaged(str(file), error) from error
    if len(raw) > longest:
        raise LINE.exceeded(str(file), "the text has more than")
    try:
        return raw.decode(used).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: byte 0x{raw[error.start]:02x} at {error.start} is not {used}; name the encoding, for example "
            "--encoding cp1252"
        ) from error
