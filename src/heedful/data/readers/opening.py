"""Opening text files, plain or compressed, so that every trouble names the file and the row."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from heedful.errors import DataError, UsageError, nearest

COMPRESSED = (".xz", ".gz", ".bz2")
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def bare_suffix(path: Path) -> str:
    """Return the suffix of a file without its compression: ".jsonl" for ``a.jsonl.xz``."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return inner.suffix.lower()


def find_file(path: str | Path) -> Path:
    """Return the file itself or, where only a compressed one is there, that one.

    Args:
        path: the file, with or without ``.xz``, ``.gz`` or ``.bz2``.

    Returns:
        A file that exists.

    Raises:
        DataError: if there is none, or the path is a folder.
    """
    path = Path(path)
    candidates = [path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    if path.is_dir():
        raise DataError(f"{path}: is a folder, a file was expected")
    if not path.parent.is_dir():
        raise DataError(f"{path}: no such file, and no such folder {path.parent}")
    beside = [entry.name for entry in sorted(path.parent.iterdir()) if entry.is_file()]
    hint = nearest(path.name, beside) if beside else "the folder holds no files"
    raise DataError(f"{path}: no such file; {hint}")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading bytes; compression goes by the suffix.

    Args:
        path: a file that exists.

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
            case _:
                return path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def numbered_lines(path: str | Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    r"""Read a text file line by line; only ``\n`` and ``\r\n`` end a line.

    Args:
        path: the file, found as by `find_file`.
        encoding: any that extends ASCII; a UTF-8 byte order mark is dropped.

    Yields:
        The 1-based row and the line without its end.

    Raises:
        DataError: naming the row, if the file is missing, empty, damaged or in another encoding.
        UsageError: if there is no such encoding.
    """
    try:
        decode = codecs.lookup(encoding).decode
    except LookupError as error:
        raise UsageError(f"encoding {encoding!r} is not known; try utf-8, latin-1 or cp1252") from error
    file = find_file(path)
    row = 0
    for row, raw in enumerate(_raw_lines(file), start=1):
        if row == 1:
            raw = _without_mark(raw, file)
        try:
            line, _ = decode(raw, "strict")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{file}: row {row}: byte 0x{raw[error.start]:02x} (column {error.start + 1}) is not {encoding}; "
                "name the encoding of the file (often latin-1 or cp1252) or save it as UTF-8"
            ) from error
        yield row, line.rstrip("\r\n")
    if row == 0:
        raise DataError(f"{file}: the file is empty; at least one row was expected")


def numbered_blocks(path: str | Path) -> Iterator[list[tuple[int, str]]]:
    """Read the blocks of a UTF-8 file that empty lines set apart: the sentences of the CoNLL formats.

    Args:
        path: the file, found as by `find_file`.

    Yields:
        The lines of a block, each with its 1-based row; no block is empty.

    Raises:
        DataError: see `numbered_lines`.
    """
    block: list[tuple[int, str]] = []
    for row, line in numbered_lines(path):
        if line.strip():
            block.append((row, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _raw_lines(file: Path) -> Iterator[bytes]:
    row = 0
    with open_bytes(file) as stream:
        try:
            for raw in stream:
                row += 1
                yield raw
        except DAMAGE as error:
            raise DataError(
                f"{file}: row {row + 1}: the compressed file is cut short or damaged ({error}); get it again"
            ) from error


def _without_mark(raw: bytes, file: Path) -> bytes:
    if raw.startswith(_UTF16_MARKS):
        raise DataError(f"{file}: row 1: the file is UTF-16; save it as UTF-8")
    return raw.removeprefix(codecs.BOM_UTF8)
