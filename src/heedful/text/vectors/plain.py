"""Word vectors as text, a word and its numbers a line, as GloVe, fastText (``.vec``) and word2vec write them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.errors import DataError
from heedful.text.text_files import find_file, numbered_lines
from heedful.text.vectors.binary import decoded
from heedful.text.vectors.initial import WordVectors

_LOG = logging.getLogger(__name__)
_BLOCK = 1024
_LARGEST = float(np.finfo(np.float32).max)


def read_plain(file: Path, wanted: Collection[str] | None, *, lowercase: bool) -> WordVectors:
    """Read word vectors written as text: `word v1 … vD` a line, with a header line `n D` or without (GloVe).

    The width is the header's or the first line's. A word may hold spaces, as some in GloVe 840B do. A word that is not
    UTF-8 gets lone surrogates, as in a binary file. A file with fewer rows than its header says, as ``head`` cuts it,
    is read with a warning.

    Args:
        file: the file, plain or compressed.
        wanted: keep only these words; None keeps all.
        lowercase: lower-case the file's words. Where several fall together the last one wins, as in the published
            code; so does the last of a word given twice.

    Returns:
        The vectors.

    Raises:
        DataError: naming file and line: wrong width, not a finite number, damaged or truncated archive, more rows than
            the header says, empty.
    """
    lines = numbered_lines(file)
    first = next(lines, None)
    if first is None:
        raise DataError(f"{file}: empty; expected word vectors, one `word v1 v2 …` a line")
    announced, width = header_of(first[1])
    if announced is None:
        width = len(first[1].split()) - 1
        lines = chain([first], lines)
    if width < 1:
        raise DataError(
            f"{file}: line 1: expected a word and its vector or a header `n D`, got {shown(first[1])}"
        )
    matrices, names = [], []
    total = 0
    for block in blocks_of(lines):
        total += len(block)
        kept = split_block(block, width, file, wanted, lowercase)
        if kept:
            names += [word for _, word, _ in kept]
            matrices.append(parse_numbers(kept, width, file))
    if announced is not None and total > announced:
        raise DataError(
            f"{file}: the header announces {announced} vectors, the file holds {total}. Download the file again."
        )
    if announced is not None and total < announced:
        _LOG.warning(
            "%s: the header announces %d vectors, and the file holds %d; the others are missing",
            file,
            announced,
            total,
        )
    matrix = np.concatenate(matrices) if matrices else np.zeros((0, width), np.float32)
    last = {word: row for row, word in enumerate(names)}
    if len(last) < len(names):
        matrix = matrix[list(last.values())]
    return WordVectors(tuple(last), matrix)


def header_of(line: bytes) -> tuple[int | None, int]:
    """Return the number of vectors and their width of a header `n D`; None and 0 for any other line."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) <= 15 for field in fields):
        return int(fields[0]), int(fields[1])
    return None, 0


def blocks_of(lines: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield numbered lines by the thousand."""
    block = []
    for line in lines:
        block.append(line)
        if len(block) == _BLOCK:
            yield block
            block = []
    if block:
        yield block


def split_block(
    block: list[tuple[int, bytes]], width: int, file: Path, wanted: Collection[str] | None, lowercase: bool
) -> list[tuple[int, str, bytes]]:
    """Return line number, word and written vector of the lines whose word is wanted."""
    kept = []
    for number, line in block:
        name, _, values = line.partition(b" ")
        if values.count(b" ") != width - 1:
            # Slow but right: several spaces or tabs between numbers, or spaces within the word.
            fields = line.rsplit(maxsplit=width)
            if len(fields) != width + 1 or any(map(_is_finite_number, fields[0].split()[1:])):
                raise _wrong_width(file, number, width, len(line.split()) - 1)
            name, values = fields[0], b" ".join(fields[1:])
        word = decoded(name)
        word = word.lower() if lowercase else word
        if wanted is None or word in wanted:
            kept.append((number, word, values))
    return kept


def parse_numbers(kept: list[tuple[int, str, bytes]], width: int, file: Path) -> NDArray[np.float32]:
    """Parse the vectors of a block at once; line by line only to name the line that is wrong."""
    try:
        with np.errstate(over="ignore"):
            flat = np.array(b" ".join(values for _, _, values in kept).split(b" "), dtype=np.float32)
        if np.isfinite(flat).all():
            return flat.reshape(len(kept), width)
    except ValueError:
        pass
    for number, _, values in kept:
        fields = values.split()
        wrong = next((field for field in fields if not _is_finite_number(field)), None)
        if wrong is not None:
            raise DataError(
                f"{file}: line {number}: expected a finite number, got {shown(wrong)}. Mend or drop the line."
            )
        if len(fields) != width:
            raise _wrong_width(file, number, width, len(fields))
    raise DataError(f"{file}: lines {kept[0][0]} to {kept[-1][0]}: a number cannot be read")


def _wrong_width(file: Path, number: int, expected: int, got: int) -> DataError:
    return DataError(
        f"{file}: line {number}: expected {expected} numbers after the word, got {got}. "
        "All vectors of a file must have one width."
    )


def _is_finite_number(field: bytes) -> bool:
    try:
        return abs(float(field)) <= _LARGEST
    except ValueError:
        return False


def decoded_line(raw: bytes, file: Path, number: int) -> str:
    """Return a line as text, or raise a `DataError` that names it."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: line {number}: not UTF-8 (byte 0x{raw[error.start]:02x}). Convert the file to UTF-8."
        ) from error


def shown(raw: bytes) -> str:
    """Return bytes as a message shows them."""
    text = raw.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def read_baseforms(path: str | Path) -> dict[str, str]:
    """Read a map of inflected forms to base forms, `form<TAB>base` a line, plain or compressed.

    Args:
        path: the file.

    Returns:
        Form to base; the last line of a form wins.

    Raises:
        DataError: naming file and line: not two columns, wrong encoding, damaged archive, empty.
    """
    file = find_file(path)
    bases = {}
    for number, raw in numbered_lines(file):
        fields = decoded_line(raw, file, number).split("\t")
        if len(fields) != 2 or not all(fields):
            raise DataError(f"{file}: line {number}: expected form<TAB>base, got {shown(raw)}")
        bases[fields[0]] = fields[1]
    if not bases:
        raise DataError(f"{file}: empty; expected lines form<TAB>base")
    return bases
