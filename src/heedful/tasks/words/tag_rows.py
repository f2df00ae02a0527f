"""What the linear part of tags reads of data sets, and the part that a fit makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.model.decisions.tag_paths import TagChain
from heedful.runtime.tag_part import NeighborVectors, TagPart
from heedful.tasks.words.fitting_chain import ChainFit, ChainRows
from heedful.text.word_shapes import Numbers, WordShapes

LEAST = 2
"""How often a feature must occur: what only one word has says nothing of words that are new."""
MOST_FEATURES, MOST_WEIGHTS = 500_000, 12_000_000
"""Features, and weights of all tags together, that are kept at most, the most frequent ones."""


@dataclass(frozen=True, eq=False)
class TagReading:
    """What a linear part of tags reads.

    Attributes:
        shapes: which features a word has.
        numbers: those that are known, ascending.
        vectors: word vectors that are read too; None for none.
    """

    shapes: WordShapes
    numbers: Numbers
    vectors: NeighborVectors | None

    @classmethod
    def of(
        cls,
        texts: Sequence[Sequence[str]],
        tags: int,
        vectors: NeighborVectors | None,
        shapes: WordShapes | None = None,
    ) -> TagReading:
        """Collect the features of training texts.

        Args:
            texts: the words of each.
            tags: how many there are.
            vectors: word vectors that are read too.
            shapes: which features a word has; None for the usual ones.

        Returns:
            The reading.
        """
        rule = shapes or WordShapes()
        own = [number for text in texts for number in rule.numbers(text)]
        numbers, counts = np.unique(np.concatenate([np.zeros(0, np.int32), *own]), return_counts=True)
        kept = counts >= LEAST
        most = max(min(MOST_FEATURES, MOST_WEIGHTS // max(tags, 1)), 1)
        if kept.sum() > most:
            kept &= counts > np.partition(counts[kept], -most)[-most]
        return cls(rule, numbers[kept].astype(np.int32), vectors)

    def rows(self, texts: Sequence[Sequence[str]]) -> ChainRows:
        """Return what is read of texts."""
        from scipy import sparse

        offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
        each = [numbers for text in texts for numbers in self.shapes.numbers(text)]
        count = np.array([len(numbers) for numbers in each], np.int64)
        every = np.concatenate([np.zeros(0, np.int32), *each])
        places = np.minimum(np.searchsorted(self.numbers, every), max(len(self.numbers) - 1, 0))
        known = self.numbers[places] == every if len(self.numbers) else np.zeros(len(every), bool)
        words = np.repeat(np.arange(len(each)), count)[known]
        ones = np.ones(int(known.sum()), np.float32)
        matrix = sparse.csr_matrix((ones, (words, places[known])), shape=(len(each), len(self.numbers)))
        table, around = self._vectors(texts, len(each))
        return ChainRows(matrix, table, around, offsets)

    def _vectors(
        self, texts: Sequence[Sequence[str]], count: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return the vectors of the distinct words, behind one of zeros, and which are read at each word."""
        if self.vectors is None:
            return np.zeros((1, 0), np.float32), np.zeros((count, 1), np.int64)
        forms = list(dict.fromkeys(word for text in texts for word in text))
        row = {word: place for place, word in enumerate(forms, start=1)}
        table = np.zeros((len(forms) + 1, self.vectors.rows.width), np.float32)
        table[1:] = self.vectors.each(forms)
        reach = self.vectors.reach
        edge = [0] * reach
        around = [
            padded[place : place + 2 * reach + 1]
            for text in texts
            for padded in ([*edge, *(row[word] for word in text), *edge],)
            for place in range(len(text))
        ]
        return table, np.array(around, np.int64).reshape(count, 2 * reach + 1)

    def part(self, fit: ChainFit) -> TagPart:
        """Return the part that a fit makes, with the features whose weights are not all next to nothing."""
        used = np.abs(fit.words).max(axis=1, initial=0.0) > _NOTHING
        chain = TagChain(fit.follows, fit.first, fit.last)
        return TagPart(
            self.shapes, self.numbers[used], fit.words[used], fit.bias, chain, self.vectors, fit.vectors
        )


_NOTHING = 1e-3


def texts_of(dataset: EncodedDataset) -> list[list[str]]:
    """Return the words of each text of a data set that keeps them."""
    assert dataset.kept is not None  # the settings of a model with a linear part keep the words
    return [words for (words,) in dataset.kept.examples(range(len(dataset)))]


def gold_tags(tags: NDArray[np.int32], known: int) -> NDArray[np.int64]:
    """Return the numbers of tags, -1 for one that a model of so many tags does not know."""
    numbers = tags.astype(np.int64)
    return np.where(numbers < known, numbers, -1)
