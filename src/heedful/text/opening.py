"""Reading the lines of a file of word vectors or base forms, plain or compressed."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from heedful.errors import DataError

COMPRESSED = (".xz", ".gz", ".bz2", ".zip")
_DAMAGED = (
    EOFError,
    OSError,
    lzma.LZMAError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)


def find_file(path: str | Path) -> Path:
    """Return the file itself or, where only a compressed one is there, that one.

    Args:
        path: the file, with or without the suffix of its compression.

    Returns:
        A file that exists.

    Raises:
        DataError: if there is none.
    """
    path = Path(path)
    for candidate in (path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED)):
        if candidate.is_file():
            return candidate
    what = "is a folder, a file was expected" if path.is_dir() else "no such file"
    raise DataError(f"{path}: {what} (nor one with {', '.join(COMPRESSED)} added)")


def numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their 1-based numbers, as bytes without the white space at their end.

    Args:
        file: a file that exists; its suffix says how it is compressed. A zip archive must hold one file.

    Yields:
        Number and line.

    Raises:
        DataError: naming the line, if the file cannot be opened or its archive is damaged or cut short.
    """
    number = 0
    try:
        with _open(file) as stream:
            for number, raw in enumerate(stream, start=1):
                line = raw.rstrip(b" \t\r\n")
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line:
                    yield number, line
    except _DAMAGED as error:
        what = (
            "the archive is damaged or cut short" if file.suffix.lower() in COMPRESSED else "cannot be read"
        )
        raise DataError(f"{file}: line {number + 1}: {what} ({error}). Download the file again.") from error


def _open(file: Path) -> BinaryIO:
    match file.suffix.lower():
        case ".xz":
            return cast(BinaryIO, lzma.open(file, "rb"))
        case ".gz":
            return cast(BinaryIO, gzip.open(file, "rb"))
        case ".bz2":
            return cast(BinaryIO, bz2.open(file, "rb"))
        case ".zip":
            return _open_only_member(file)
        case _:
            return file.open("rb")


def _open_only_member(file: Path) -> BinaryIO:
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            raise DataError(
                f"{file}: expected a zip archive with one file, got {len(members)}. Unpack it first."
            )
        return cast(BinaryIO, archive.open(members[0]))
