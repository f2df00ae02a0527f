"""Words to word pieces: the ids of a text's pieces, the word each belongs to, and how many words fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.ragged import Ragged
from heedful.text.pieces import PieceVocabulary


@dataclass(frozen=True, eq=False)
class PieceTable:
    """The pieces of the distinct words of a corpus.

    Attributes:
        of_word: the ids of the pieces of each word, in its row.
        limit: most pieces of a text.
    """

    of_word: Ragged
    limit: int

    @classmethod
    def build(cls, words: Sequence[str], vocabulary: PieceVocabulary) -> PieceTable:
        """Cut every distinct word once."""
        cut = [vocabulary.pieces(word) for word in words]
        offsets = np.concatenate([[0], np.cumsum([len(pieces) for pieces in cut], dtype=np.int64)])
        values = np.fromiter((piece for pieces in cut for piece in pieces), np.int32, int(offsets[-1]))
        return cls(Ragged(values, offsets), vocabulary.rules.limit)

    def cut(self, side: Ragged) -> tuple[Ragged, Ragged]:
        """Cut texts into pieces.

        Args:
            side: the numbers of each text's words.

        Returns:
            The ids of each text's pieces and, in the same rows, the place of each piece's word in its text, from 0.
        """
        pieces = self.of_word.take(side.values.astype(np.int64))
        offsets = pieces.offsets[side.offsets]
        place_of_word = np.arange(len(side.values)) - np.repeat(side.offsets[:-1], side.lengths())
        places = np.repeat(place_of_word, pieces.lengths()).astype(np.int32)
        return Ragged(pieces.values, offsets), Ragged(places, offsets)

    def words_that_fit(self, side: Ragged) -> NDArray[np.int64]:
        """Return how many whole words of each text, from its beginning, the limit lets through, [N] int64."""
        ends = np.concatenate([[0], np.cumsum(self.of_word.lengths()[side.values])])
        # The first word that ends beyond the limit is the first that is cut off.
        allowed = ends[side.offsets[:-1]] + self.limit
        return np.searchsorted(ends, allowed, side="right") - 1 - side.offsets[:-1]


def words_of(places: Ragged) -> NDArray[np.int64]:
    """Return the number of words that the pieces of each text come from, [N] int64: every word has a piece."""
    filled = places.lengths() > 0
    count = np.zeros(len(places), np.int64)
    count[filled] = places.values[places.offsets[1:][filled] - 1] + 1
    return count


def between_pieces(
    between_words: NDArray[np.int16], places: NDArray[np.int64], valid: NDArray[np.bool_]
) -> NDArray[np.int16]:
    """Carry distances between words over to their pieces: two pieces are as far apart as their words.

    Args:
        between_words: [B, W, W]; -1 where there is no path.
        places: place of each piece's word, [B, L].
        valid: which pieces are there, [B, L].

    Returns:
        [B, L, L]; 0 between the pieces of one word that has a place in the tree, -1 at padding.
    """
    texts = np.arange(len(places))[:, None, None]
    steps = between_words[texts, places[:, :, None], places[:, None, :]]
    return np.where(valid[:, :, None] & valid[:, None, :], steps, np.int16(-1))
