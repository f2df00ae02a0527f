"""word2vec's binary files: a header `n D`, then for each word its bytes, a space and D float32."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from heedful.text.opening import open_bytes
from heedful.text.vectors.binary import ByteReader, check_finite, decoded
from heedful.text.vectors.word_vectors import WordVectors, chosen_rows

_BLOCK = 4096


def read_word2vec(file: Path, wanted: Collection[str] | None, *, lowercase: bool) -> WordVectors:
    """Read a binary file of word2vec.

    Args:
        file: the file, plain or compressed.
        wanted: keep only these words; None keeps all.
        lowercase: see `heedful.text.vectors.word_vectors.chosen_rows`.

    Returns:
        The vectors.

    Raises:
        DataError: naming the byte or the vector: cut short, longer than the header says, not finite.
    """
    names, matrices = [], []
    with open_bytes(file) as stream:
        reader = ByteReader(stream, file)
        fields = reader.until(b"\n", "the header").split()
        count, width = int(fields[0]), int(fields[1])
        numbers: list[bytes] = []
        for number in range(count):
            word = decoded(reader.until(b" ", f"word {number + 1:,}").lstrip(b"\n"))
            vector = reader.take(4 * width, f"vector {number + 1:,}")
            folded = word.lower() if lowercase else word
            if wanted is None or folded in wanted:
                names.append(word)
                numbers.append(vector)
            if len(numbers) == _BLOCK:
                matrices.append(_matrix(numbers, width))
                numbers = []
        matrices.append(_matrix(numbers, width))
        if reader.peek(2).strip(b"\n"):
            raise reader.refused(f"the header announces {count:,} vectors, the file goes on after them")
    matrix = np.concatenate(matrices)
    check_finite(matrix, file, names)
    chosen = chosen_rows(names, None, lowercase=lowercase)
    return WordVectors(tuple(chosen), matrix[np.fromiter(chosen.values(), np.int64, len(chosen))])


def _matrix(numbers: list[bytes], width: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    flat = np.frombuffer(b"".join(numbers), "<f4").astype(np.float32, copy=False)
    return flat.reshape(len(numbers), width)
