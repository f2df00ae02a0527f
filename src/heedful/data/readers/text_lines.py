"""Text files as numbered lines and blocks, plain or compressed, so that every trouble names the file and the row."""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from heedful.errors import DataError, UsageError
from heedful.text.limits import LINE
from heedful.text.text_files import (
    COMPRESSED,
    DAMAGE,
    Recoded,
    damaged,
    find_file,
    open_bytes,
    raw_lines,
    recoded,
)

__all__ = [
    "COMPRESSED",
    "DAMAGE",
    "bare_suffix",
    "check_encoding",
    "damaged",
    "decoded_lines",
    "encoding_of",
    "find_file",
    "numbered_blocks",
    "numbered_lines",
    "open_bytes",
    "open_text",
]
_ARCHIVE = b"PK\x03\x04"
_COMPRESSED = {b"\x1f\x8b": ".gz", b"BZh91AY&SY": ".bz2", b"\xfd7zXZ\0": ".xz", b"(\xb5/\xfd": ".zst"}
"""First bytes of what is compressed, and the ending by which it is unpacked."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"%PDF-")
_PAGE = re.compile(rb"\s*(?:<\?xml[^>]*>\s*|<!--[^>]*>\s*)*<(?:!doctype html|html|head)\b", re.IGNORECASE)
_WIDE = ("utf-16", "utf-32")
"""Beginnings of the names of encodings that do not extend ASCII, and that are read as UTF-8."""


def bare_suffix(path: Path) -> str:
    """Return the suffix of a file without its compression: ".jsonl" for ``a.jsonl.xz``."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return inner.suffix.lower()


def numbered_lines(path: str | Path, encoding: str = "utf-8") -> Generator[tuple[int, str], None, None]:
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
    check_encoding(encoding)
    file = find_file(path)
    with open_text(file, encoding) as stream:
        yield from decoded_lines(stream, str(file), encoding)


def open_text(file: Path, encoding: str = "utf-8") -> BinaryIO:
    """Open a text file for reading bytes, which are those of UTF-8 where the file is UTF-16 or UTF-32.

    A file whose first bytes are a mark of UTF-16 or UTF-32 is read as such, whatever the encoding asked for.

    Args:
        file: see `heedful.text.text_files.open_bytes`.
        encoding: of the file.

    Returns:
        The stream; `encoding_of` says how its bytes are decoded.
    """
    return recoded(open_bytes(file), str(file), encoding)


def encoding_of(stream: BinaryIO, encoding: str) -> str:
    """Return how the bytes of a stream are decoded: as asked, unless they were recoded to UTF-8."""
    return "utf-8" if isinstance(getattr(stream, "raw", None), Recoded) else encoding


def decoded_lines(stream: BinaryIO, source: str, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Decode the lines of a stream; see `numbered_lines`.

    Yields the 1-based row and the line without its end. Raises DataError, naming the row, if a line is damaged, in
    another encoding or too long.
    """
    row = 0
    stream = recoded(stream, source, encoding)
    encoding = encoding_of(stream, encoding)
    try:
        for row, raw in enumerate(raw_lines(stream, source), start=1):
            if row == 1:
                raw = _without_mark(raw, source)
            try:
                line = raw.decode(encoding)
            except UnicodeDecodeError as error:
                remedy = (
                    "save the file as UTF-8, or name its encoding, for example --encoding cp1252 or latin-1"
                )
                if b"\0" in raw:
                    remedy = "this seems to be no text; check that it is the right file"
                raise DataError(
                    f"{source}: row {row}: byte 0x{raw[error.start]:02x} (column {error.start + 1}) is not {encoding}; "
                    f"{remedy}"
                ) from error
            yield row, line.rstrip("\r\n")
    except DAMAGE as error:
        raise damaged(f"{source}: row {row + 1}", error) from error
    if row == 0:
        raise DataError(f"{source}: is empty; at least one row was expected")


def numbered_blocks(path: str | Path) -> Iterator[list[tuple[int, str]]]:
    """Read the blocks of a UTF-8 file that empty lines set apart: the sentences of the CoNLL formats.

    Yields the lines of a block, each with its 1-based row; no block is empty. Raises DataError, see `numbered_lines`.
    """
    block: list[tuple[int, str]] = []
    size, most = 0, LINE.value()
    for row, line in numbered_lines(path):
        if line.strip():
            block.append((row, line))
            size += len(line)
            if size > most:
                raise LINE.exceeded(f"{path}: row {block[0][0]}", "a sentence has more than")
        elif block:
            yield block
            block, size = [], 0
    if block:
        yield block


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text, and one that writes the ends of lines in its own way.

    Raises UsageError if it is refused.
    """
    try:
        if b"a,1\n".decode(encoding) == "a,1\n" or codecs.lookup(encoding).name.startswith(_WIDE):
            return
    except UnicodeError:
        if codecs.lookup(encoding).name.startswith(_WIDE):
            return
    except (LookupError, ValueError) as error:
        raise UsageError(f"encoding {encoding!r} is not known; try utf-8, latin-1 or cp1252") from error
    raise UsageError(f"encoding {encoding!r} does not extend ASCII; save the file as UTF-8")


def _of_zeros(line: bytes) -> str:
    """Say what a line with zero bytes is: of two bytes of a letter of UTF-16 in ASCII always the same one is zero."""
    zeros = [place for place, byte in enumerate(line) if not byte]
    sides = {place % 2 for place in zeros}
    if len(sides) == 1 and 8 * len(zeros) >= len(line):
        kind = "utf-16-le" if sides == {1} else "utf-16-be"
        return f"the file is UTF-16 without its mark; save it as UTF-8, or pass --encoding {kind}"
    return f"byte {zeros[0] + 1} is zero, which no text has; check that it is the right file and that it is whole"


def _without_mark(raw: bytes, source: str) -> bytes:
    """Return the first line without its marks of UTF-8; refuse what is no text, and line ends of old Macs."""
    if raw.startswith(_ARCHIVE):
        raise DataError(
            f"{source}: is an archive or a spreadsheet and not text; save a spreadsheet as CSV, or unpack the archive"
        )
    if raw.startswith(_PICTURES):
        raise DataError(f"{source}: is a picture or a PDF and not text; check that it is the right file")
    if ending := next((ending for mark, ending in _COMPRESSED.items() if raw.startswith(mark)), ""):
        raise DataError(f"{source}: is compressed; give it a name that ends in {ending}")
    if raw.startswith(_POINTER):
        raise DataError(
            f"{source}: is a pointer of Git LFS and not the file itself; get that with git lfs pull"
        )
    if b"\0" in raw:
        raise DataError(f"{source}: row 1: {_of_zeros(raw)}")
    if not raw.endswith(b"\n") and b"\r" in raw.rstrip(b"\r"):
        raise DataError(
            f"{source}: row 1: its lines end in a carriage return alone, as on old Macs; save it with line ends of Unix"
        )
    while raw.startswith(codecs.BOM_UTF8):  # some programs write a second mark before the one that is there
        raw = raw.removeprefix(codecs.BOM_UTF8)
    alone = bare_suffix(Path(source)) in ("", ".txt")  # lines of such a file are texts, which may be pages
    if _PAGE.match(raw) and (raw.count(b"<") == 1 or (not alone and raw.rstrip().endswith(b">"))):
        raise DataError(f"{source}: is a web page; download the file that the page shows")
    return raw
