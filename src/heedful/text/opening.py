"""Opening text files, plain or compressed, so that every trouble names the file."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO, cast

from heedful.errors import DataError

COMPRESSED = (".xz", ".gz", ".bz2", ".zip")
DAMAGE = (
    EOFError,
    OSError,
    lzma.LZMAError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)
"""What reading a damaged archive raises; the last two by one that is encrypted or packed in an unknown way."""


def find_file(path: str | Path) -> Path:
    """Return the file itself or, where only a compressed one is there, that one.

    Args:
        path: the file, with or without ``.xz``, ``.gz``, ``.bz2`` or ``.zip``.

    Returns:
        A file that exists.

    Raises:
        DataError: if there is none, or the path is a folder.
    """
    path = Path(path)
    for candidate in (path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED)):
        if os.path.isfile(candidate):
            return candidate
    if os.path.isdir(path):
        raise DataError(f"{path}: is a folder, a file was expected")
    if not os.path.isdir(path.parent):
        raise DataError(f"{path}: no such file, and no such folder {path.parent}")
    if not os.access(path.parent, os.R_OK | os.X_OK):
        raise DataError(f"{path}: cannot be read: no permission in {path.parent}")
    raise DataError(
        f"{path}: no such file{_nearest_beside(path)} (nor one with {', '.join(COMPRESSED)} added)"
    )


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading bytes; compression goes by the suffix.

    Args:
        path: a file that exists; a zip archive must hold one file.

    Returns:
        A stream of the decompressed bytes.

    Raises:
        DataError: if it cannot be opened.
    """
    try:
        match path.suffix.lower():
            case ".xz":
                return cast(BinaryIO, lzma.open(path, "rb"))
            case ".gz":
                return cast(BinaryIO, gzip.open(path, "rb"))
            case ".bz2":
                return cast(BinaryIO, bz2.open(path, "rb"))
            case ".zip":
                return _open_only_member(path)
            case _:
                return path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except DAMAGE as error:
        raise DataError(
            f"{path}: the archive is damaged or cut short ({error}). Download the file again."
        ) from error


def numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their 1-based numbers, as bytes without the white space at their end.

    Args:
        file: see `open_bytes`.

    Yields:
        Number and line.

    Raises:
        DataError: naming the line, if the file cannot be opened or its archive is damaged or cut short.
    """
    number = 0
    with open_bytes(file) as stream:
        try:
            for number, raw in enumerate(stream, start=1):
                line = raw.rstrip(b" \t\r\n")
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line:
                    yield number, line
        except DAMAGE as error:
            what = (
                "the archive is damaged or cut short"
                if file.suffix.lower() in COMPRESSED
                else "cannot be read"
            )
            raise DataError(
                f"{file}: line {number + 1}: {what} ({error}). Download the file again."
            ) from error


def _nearest_beside(path: Path) -> str:
    """Name the file of the folder whose name is closest, if one is close; a folder may hold thousands."""
    beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    close = get_close_matches(path.name, sorted(beside), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _open_only_member(file: Path) -> BinaryIO:
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            raise DataError(
                f"{file}: expected a zip archive with one file, got {len(members)}. Unpack it first."
            )
        return cast(BinaryIO, archive.open(members[0]))
