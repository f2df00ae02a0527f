"""What every reader of word vectors returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


class Speller(ABC):
    """Makes the vector of a word from parts of its spelling, for words that a file does not list."""

    @abstractmethod
    def spell(self, words: Sequence[str]) -> tuple[Matrix, NDArray[np.bool_]]:
        """Return the vectors of words.

        Args:
            words: any strings.

        Returns:
            The vectors, [n, D]; and which words have one, [n]: the vector of any other word is zero.
        """


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: each once, in file order.
        matrix: [n, D] float32, a row a word.
        speller: gives vectors to words that are not listed; None where the file has nothing to make them from.
    """

    words: tuple[str, ...]
    matrix: Matrix
    speller: Speller | None = None

    @property
    def width(self) -> int:
        """Features D of a vector."""
        return int(self.matrix.shape[1])


def chosen_rows(
    names: Sequence[str], wanted: Collection[str] | None, *, lowercase: bool
) -> Mapping[str, int]:
    """Choose the rows of a binary file that are kept.

    Args:
        names: the word of each row.
        wanted: keep only these words; None keeps all.
        lowercase: lower-case the words. Where several fall together, the one that the file writes in lower case wins,
            else the first.

    Returns:
        Word to row, in the order of the rows. Of a word that is there twice, the first row is kept.
    """
    rows: dict[str, int] = {}
    for row, name in enumerate(names):
        word = name.lower() if lowercase else name
        if (wanted is None or word in wanted) and (
            word not in rows or (name == word and names[rows[word]] != word)
        ):
            rows[word] = row
    return rows
