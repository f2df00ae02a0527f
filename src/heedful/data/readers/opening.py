"""Text files as numbered lines and blocks, plain or compressed, so that every trouble names the file and the row."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from heedful.errors import DataError, UsageError
from heedful.text.opening import COMPRESSED, DAMAGE, find_file, open_bytes

__all__ = [
    "COMPRESSED",
    "DAMAGE",
    "bare_suffix",
    "find_file",
    "numbered_blocks",
    "numbered_lines",
    "open_bytes",
]
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def bare_suffix(path: Path) -> str:
    """Return the suffix of a file without its compression: ".jsonl" for ``a.jsonl.xz``."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return inner.suffix.lower()


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
    _check_encoding(encoding)
    file = find_file(path)
    row = 0
    for row, raw in enumerate(_raw_lines(file), start=1):
        if row == 1:
            raw = _without_mark(raw, file)
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{file}: row {row}: byte 0x{raw[error.start]:02x} (column {error.start + 1}) is not {encoding}; "
                "save the file as UTF-8, or to train on it name the encoding, often latin-1 or cp1252, as "
                "data.options.encoding"
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


def _check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text, and one that writes the ends of lines in its own way."""
    try:
        if b"a,1\n".decode(encoding) == "a,1\n":
            return
    except UnicodeError:
        pass
    except (LookupError, ValueError) as error:
        raise UsageError(f"encoding {encoding!r} is not known; try utf-8, latin-1 or cp1252") from error
    raise UsageError(f"encoding {encoding!r} does not extend ASCII; save the file as UTF-8")


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
    if raw.startswith(_UTF16_MARKS) or b"\0" in raw[:2]:  # of two bytes of a letter in ASCII one is zero
        raise DataError(f"{file}: row 1: the file is UTF-16; save it as UTF-8")
    return raw.removeprefix(codecs.BOM_UTF8)
