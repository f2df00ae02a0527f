"""Word vectors in 8 bits, as the package heedful-en brings them (`heedful.storage.shared_rows`)."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from heedful.storage.shared_rows import read_rows
from heedful.text.opening import UNPACKED
from heedful.text.vectors.word_vectors import WordVectors, chosen_rows

_LONGEST_HEADER = 100_000_000
"""What the format safetensors allows, in bytes."""


def is_packed(head: bytes) -> bool:
    """Say whether a file begins as one of safetensors: the length of a header, and the header."""
    return 2 <= int.from_bytes(head[:8], "little") <= _LONGEST_HEADER and head[8:9] == b"{"


def read_packed(path: Path, wanted: Collection[str] | None, *, lowercase: bool) -> WordVectors:
    """Read word vectors in 8 bits.

    Args:
        path: the file.
        wanted: list only these words; None lists all.
        lowercase: see `heedful.text.vectors.word_vectors.chosen_rows`.

    Returns:
        The words and their vectors.

    Raises:
        DataError: naming the file and what is wrong.
    """
    if path.stat().st_size > UNPACKED.value():
        raise UNPACKED.exceeded(str(path), "the file has more than")
    rows = read_rows(path)
    chosen = chosen_rows(rows.words, wanted, lowercase=lowercase)
    return WordVectors(tuple(chosen), rows.matrix[list(chosen.values())])
