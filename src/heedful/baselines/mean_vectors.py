"""The mean of pretrained word vectors: with a linear model, or as the cosine of two texts, which needs no training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from heedful.baselines.splits import Features, Splits, Texts
from heedful.text.tokenize import tokenizer
from heedful.text.vectors import WordVectors


class MeanVectors(TransformerMixin, BaseEstimator):
    """The mean vector of a text's words; of pairs ``[u; v; |u - v|; u * v]``. A text without known words is zero.

    Args:
        vectors: the words and their vectors, lower-cased.
        baseforms: word to the word whose vector it takes where it has none.
        tokenizer: name of the tokenizer.
    """

    def __init__(self, vectors: WordVectors, baseforms: Mapping[str, str], tokenizer: str) -> None:
        self.vectors, self.baseforms, self.tokenizer = vectors, baseforms, tokenizer

    def fit(self, X: Texts, y: object = None) -> Self:
        """Prepare the look-up; there is nothing to learn."""
        self.rows_ = {word: row for row, word in enumerate(self.vectors.words)}
        return self

    @property
    def bytes(self) -> int:
        """What the vectors and their words take on disk."""
        return self.vectors.matrix.nbytes + sum(len(word.encode("utf-8")) + 1 for word in self.vectors.words)

    def transform(self, X: Texts) -> NDArray[np.float32]:
        """Return one row an example."""
        sides = [np.stack([self._mean(text) for text in side]) for side in zip(*X, strict=True)]
        if len(sides) == 1:
            return sides[0]
        u, v = sides
        return np.concatenate([u, v, np.abs(u - v), u * v], axis=1)

    def _mean(self, text: str) -> NDArray[np.float32]:
        rows = [
            row for word in tokenizer(self.tokenizer).words(text) if (row := self._row(word.lower())) >= 0
        ]
        if not rows:
            return np.zeros(self.vectors.width, np.float32)
        mean: NDArray[np.float32] = self.vectors.matrix[rows].mean(axis=0)
        return mean

    def _row(self, word: str) -> int:
        return self.rows_.get(word, self.rows_.get(self.baseforms.get(word, ""), -1))


@dataclass(frozen=True)
class CosineBaseline:
    """Features of texts whose cosine is the score.

    Attributes:
        name: for tables.
        features: makes what turns single texts into rows, untrained.
    """

    name: str
    features: Callable[[], Features]

    def train(self, splits: Splits) -> CosineModel:
        """Collect the vocabulary of the training texts; scores are not looked at."""
        model = CosineModel(self.features().fit(splits.train.texts))
        return replace(model, held=model.outputs(splits.choosing.texts))


@dataclass(frozen=True)
class CosineModel:
    """Features with a vocabulary.

    Attributes:
        features: turns single texts into rows.
        held: the cosines of the examples that others choose on.
        strength: nothing is regularized.
    """

    features: Features
    held: NDArray[np.float64] | None = None
    strength: float = 0.0

    @property
    def chosen(self) -> str:
        """Nothing is chosen."""
        return ""

    @property
    def megabytes(self) -> float:
        """What the features take on disk."""
        return float(self.features.bytes / 1e6)

    def outputs(self, texts: Texts) -> NDArray[np.float64]:
        """Return the cosine of each pair, [N]; 0 where a text has no known words."""
        u, v = (
            sparse.csr_matrix(self.features.transform([(text,) for text in side]))
            for side in zip(*texts, strict=True)
        )
        products = np.asarray(u.multiply(v).sum(axis=1)).ravel()
        lengths = np.sqrt(
            np.asarray(u.multiply(u).sum(axis=1) * 1.0) * np.asarray(v.multiply(v).sum(axis=1))
        ).ravel()
        return np.asarray(products / np.where(lengths == 0, 1, lengths), np.float64)
