"""How well the words of two texts find each other: each takes the word of the other text that is most like it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

ALIGNED = 6
"""Numbers that `aligned` gives."""
MOST_WORDS = 128
"""Words of a text that are compared, its first ones: every word meets every other."""
_GRAM = 3


def aligned(
    first: Sequence[str], second: Sequence[str], vectors: Callable[[Sequence[str]], NDArray[np.floating]]
) -> NDArray[np.float64]:
    """Return how much the words of each text are like their most similar words of the other.

    Equal words in lower case are like each other by 1, words with vectors by the cosine of these, and others by the
    runs of three characters in both over those in either. Words without a letter or digit are left out, and so are
    words behind the first `MOST_WORDS`.

    Args:
        first: words of one text.
        second: words of the other.
        vectors: turns words into their vectors, [n, F]; zero for a word without one.

    Returns:
        [3, 2]: for the words of the first text and those of the second the mean, the least, and the mean weighted by
        the lengths of the vectors; zeros if a text has no such word.
    """
    one, other = comparable(first), comparable(second)
    if not one or not other:
        return np.zeros((ALIGNED // 2, 2))
    x, y = (np.asarray(vectors(words), np.float64) for words in (one, other))
    n, m = (np.sqrt((rows**2).sum(axis=1)) for rows in (x, y))
    unit = _unit(y, m)
    alike = np.array(
        [(unit * row).sum(axis=1) for row in _unit(x, n)]
    )  # the same to the last bit in both orders
    lowered = [[word.lower() for word in words] for words in (one, other)]
    runs = [list(map(grams, words)) for words in lowered]
    for i, j in zip(*np.nonzero((n == 0)[:, None] | (m == 0)), strict=True):
        alike[i, j] = len(runs[0][i] & runs[1][j]) / len(runs[0][i] | runs[1][j])
    alike[np.array(lowered[0])[:, None] == np.array(lowered[1])] = 1.0
    best = alike.max(axis=1), alike.max(axis=0)
    return np.array(
        [
            [each.mean() for each in best],
            [each.min() for each in best],
            [
                float((each * size).sum()) / (size.sum() or 1.0)
                for each, size in zip(best, (n, m), strict=True)
            ],
        ]
    )


def comparable(words: Sequence[str]) -> list[str]:
    """Return the words of a text that are compared: those with a letter or digit, the first `MOST_WORDS`."""
    return [word for word in words if any(map(str.isalnum, word))][:MOST_WORDS]


def likeness(first: str, second: str) -> float:
    """Return the runs of three characters in both words over those in either, in lower case."""
    one, other = grams(first.lower()), grams(second.lower())
    return len(one & other) / len(one | other)


def grams(word: str) -> set[str]:
    """Return the runs of three characters of a word, with ``<`` and ``>`` at its edges."""
    marked = f"<{word}>"
    return {marked[start : start + _GRAM] for start in range(max(len(marked) - _GRAM, 0) + 1)}


def _unit(rows: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.where(lengths == 0, 1.0, lengths)[:, None]
