"""CoNLL-U files: words and dependency trees (https://universaldependencies.org/format.html)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from heedful.data.readers.opening import find_file, numbered_blocks
from heedful.errors import DataError
from heedful.text.dependency import UNKNOWN, Parse, mistake_in

_FIELDS = 10


def read_conllu(path: str | Path) -> Iterator[Parse]:
    """Read the sentences of a CoNLL-U file.

    Comments, multiword tokens (``3-4``) and empty nodes (``5.1``) are skipped, as the format says: the tree is one over
    the words. An underscore for a head means that it is not known.

    Args:
        path: the file, found as by `find_file`, plain or compressed.

    Yields:
        The sentences in order.

    Raises:
        DataError: naming file and row, if a line is not of the format or the heads of a sentence make no tree.
    """
    file = find_file(path)
    for block in numbered_blocks(file):
        words: list[list[str]] = []
        rows: list[int] = []
        for row, line in block:
            if line.startswith("#"):
                continue
            fields = line.split("\t")
            if len(fields) != _FIELDS:
                raise DataError(
                    f"{file}: row {row}: expected {_FIELDS} fields set apart by tabs, got {len(fields)}: {line[:60]!r}"
                )
            if is_word(fields[0], len(words) + 1, file, row):
                words.append(fields)
                rows.append(row)
        if words:
            yield _parse(words, rows, file)


def conllu_text(parses: Iterable[Parse]) -> Iterator[str]:
    """Write sentences as CoNLL-U, with a comment that holds the words; what is not known is an underscore.

    Args:
        parses: the sentences.

    Yields:
        The text of one sentence, blank line included. A sentence without words has no form in CoNLL-U and gives
        nothing.
    """
    for parse in parses:
        if not parse.words:
            continue
        lines = [f"# text = {' '.join(parse.words)}"]
        relations = parse.relations or ("_",) * len(parse.words)
        for place, (word, head, relation) in enumerate(
            zip(parse.words, parse.heads, relations, strict=True), start=1
        ):
            head_field = "_" if head == UNKNOWN else str(head)
            lines.append("\t".join([str(place), word, "_", "_", "_", "_", head_field, relation, "_", "_"]))
        yield "\n".join(lines) + "\n\n"


def is_word(number: str, expected: int, file: Path, row: int) -> bool:
    """Tell the line of a word from that of a multiword token (``3-4``) or an empty node (``5.1``).

    Args:
        number: its ID.
        expected: the ID of the next word.
        file: for messages.
        row: for messages.

    Returns:
        Whether it is a word.

    Raises:
        DataError: if it is none of the three.
    """
    parts = number.replace("-", ".").split(".")
    if len(parts) == 2 and all(part.isdigit() for part in parts):
        return False
    if number != str(expected):
        raise DataError(f"{file}: row {row}, field ID: expected {expected}, got {number!r}")
    return True


def _parse(words: list[list[str]], rows: list[int], file: Path) -> Parse:
    heads = []
    for fields, row in zip(words, rows, strict=True):
        head = fields[6]
        if head != "_" and not (head.isascii() and head.isdigit()):
            raise DataError(f"{file}: row {row}, field HEAD: expected a whole number or _, got {head!r}")
        heads.append(UNKNOWN if head == "_" else int(head))
    mistake = mistake_in(np.array(heads, np.int64), np.array([0, len(heads)]))
    if mistake is not None:
        raise DataError(f"{file}: row {rows[mistake[1]]}, field HEAD: {mistake[2]}")
    return Parse(tuple(f[1] for f in words), tuple(heads), tuple(f[7] for f in words))
