"""The vectors of a file of the user's own as a linear part reads them: frozen, in 8 bits, and kept by the model."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from heedful.runtime.sentence_features import MeanOfVectors
from heedful.storage.shared_rows import SharedRows
from heedful.text.vectors import WordVectors

MOST_ROWS = 50_000
"""Rows of a file that a model keeps, the first ones, which are those of frequent words; and those of training words."""
_MOST = 127


def mean_of_file(
    vectors: WordVectors, baseforms: Mapping[str, str] | None, training: Collection[str]
) -> MeanOfVectors:
    """Return the mean of the vectors of a file.

    Args:
        vectors: as read.
        baseforms: word to base form, whose vector it takes.
        training: the words of the training texts, whose vectors are kept wherever they are in the file.

    Returns:
        The features; a vector is a row of whole numbers from -127 to 127 times a factor of its own.
    """
    bases = baseforms or {}
    wanted = {*training, *(bases[word] for word in training if word in bases)}
    places = [n for n, word in enumerate(vectors.words) if n < MOST_ROWS or word in wanted]
    rows = vectors.matrix[places].astype(np.float64)
    scale = np.maximum(np.abs(rows).max(axis=1, initial=0) / _MOST, np.finfo(np.float32).tiny)
    words = tuple(vectors.words[place] for place in places)
    kept = set(words)
    lines = [f"{form}\t{base}" for form, base in bases.items() if base in kept and form not in kept]
    codes = np.rint(rows / scale[:, None]).astype(np.int8)
    return MeanOfVectors(SharedRows(words, codes, scale.astype(np.float32)), "\n".join(lines))
