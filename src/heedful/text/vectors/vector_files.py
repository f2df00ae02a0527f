"""Word vectors of any format; the content of the file decides which, not its name.

One format is that of the package heedful-en, which keeps its rows in 8 bits (`heedful.storage.shared_rows`).
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import Literal

from heedful.errors import DataError
from heedful.storage.shared_rows import kept_rows
from heedful.text.limits import UNPACKED
from heedful.text.text_files import find_file, open_bytes
from heedful.text.vectors.binary import ByteReader, read_word2vec
from heedful.text.vectors.fasttext import MAGIC, read_fasttext
from heedful.text.vectors.floret import HEADER, read_floret
from heedful.text.vectors.initial import WordVectors, chosen_rows
from heedful.text.vectors.model2vec import TOKENIZER, WEIGHTS, is_model2vec, read_model2vec
from heedful.text.vectors.plain import read_plain

_LONGEST_HEADER = 100_000_000
"""What the format safetensors allows, in bytes."""


def is_packed(head: bytes) -> bool:
    """Return whether a file begins as one of safetensors: the length of a header, and the header."""
    return 2 <= int.from_bytes(head[:8], "little") <= _LONGEST_HEADER and head[8:9] == b"{"


def read_packed(path: Path, wanted: Collection[str] | None, *, lowercase: bool) -> WordVectors:
    """Read word vectors in 8 bits.

    Args:
        path: the file.
        wanted: list only these words; None lists all.
        lowercase: see `heedful.text.vectors.initial.chosen_rows`.

    Returns:
        The words and their vectors.

    Raises:
        DataError: naming the file and what is wrong.
    """
    if path.stat().st_size > UNPACKED.value():
        raise UNPACKED.exceeded(str(path), "the file has more than")
    rows = kept_rows(path)
    chosen = chosen_rows(rows.words, wanted, lowercase=lowercase)
    return WordVectors(tuple(chosen), rows.matrix[list(chosen.values())])


VectorFormat = Literal["text", "floret", "fasttext", "word2vec", "model2vec", "packed"]
_HEAD = 128
_ROW = 1 << 16


def find_vectors(path: str | Path) -> Path:
    """Return a file of vectors, or a model2vec folder.

    Args:
        path: the file, where the suffix of a compression may be left out; or the folder.

    Returns:
        A path that exists.

    Raises:
        DataError: if there is none, or the folder holds something else.
    """
    folder = Path(path)
    if not folder.is_dir():
        return find_file(path)
    if not is_model2vec(folder):
        raise DataError(
            f"{folder}: is a folder, but not one of model2vec, which holds {WEIGHTS} and {TOKENIZER}"
        )
    return folder


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that hold vectors: what `find_vectors` returned, or the files in that folder."""
    return (path / WEIGHTS, path / TOKENIZER) if path.is_dir() else (path,)


def vector_format(path: Path) -> VectorFormat:
    """Look into a file and say how it holds vectors.

    Args:
        path: from `find_vectors`.

    Returns:
        The format; "text" also for what cannot be unpacked or is no vectors at all, so that reading it names the line.
    """
    if path.is_dir():
        return "model2vec"
    try:
        return _format_of_file(path)
    except DataError:
        return "text"


def _format_of_file(path: Path) -> VectorFormat:
    with open_bytes(path) as stream:
        reader = ByteReader(stream, path)
        head = reader.peek(_HEAD)
        if head.startswith(MAGIC):
            return "fasttext"
        if is_packed(head):
            return "packed"
        line, end, _ = head.partition(b"\n")
        if HEADER.fullmatch(line.rstrip()):
            return "floret"
        fields = line.split()
        if not end or len(fields) != 2 or not all(field.isdigit() and len(field) <= 15 for field in fields):
            return "text"
        width = int(fields[1])
        return (
            "word2vec"
            if width and _is_binary(reader.peek(len(line) + _ROW)[len(line) + 1 :], width)
            else "text"
        )


def _is_binary(first: bytes, width: int) -> bool:
    """Return whether what follows a header `n D` begins with the row of a binary file."""
    row = first.partition(b"\n")[0].split()
    if len(row) == width + 1 and all(map(_is_number, row[1:])):
        return False
    numbers = first.partition(b" ")[2][: 4 * width]
    return any(byte < 32 and byte not in b"\t\r\n" for byte in islice(numbers, 4 * width)) or not _is_text(
        numbers
    )


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(content) - 3  # the last character may be cut
    return True


def read_vectors(
    path: str | Path, words: Collection[str] | None = None, *, lowercase: bool = False
) -> WordVectors:
    """Read word vectors of any format.

    That is text of GloVe, fastText or word2vec, floret, fastText or word2vec binary, model2vec, or 8 bits. All but the
    last two may be compressed (.gz, .xz, .bz2, .zst, or .zip with one member).

    Args:
        path: the file, or a model2vec folder.
        words: keep only these; None keeps all.
        lowercase: lower-case the file's words. Where several fall together, the last one wins in a text file, as in the
            published code; in a binary one that which the file writes in lower case wins, else the first.

    Returns:
        The vectors, with a speller where the file holds n-grams or pieces.

    Raises:
        DataError: naming the file and the line, byte or word that is wrong.
        MissingExtraError: for a model2vec folder without the package tokenizers.
    """
    found = find_vectors(path)
    wanted = None if words is None else frozenset(words)
    match vector_format(found):
        case "model2vec":
            return read_model2vec(found, wanted, lowercase=lowercase)
        case "fasttext":
            return read_fasttext(found, wanted, lowercase=lowercase)
        case "word2vec":
            return read_word2vec(found, wanted, lowercase=lowercase)
        case "floret":
            return read_floret(found)
        case "packed":
            return read_packed(found, wanted, lowercase=lowercase)
        case _:
            return read_plain(found, wanted, lowercase=lowercase)
