"""Texts and pairs of texts to sparse rows of word or character n-grams."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from heedful.baselines.splits import Texts

WORD = r"(?u)\w+|[^\w\s]"
"""A word, or one mark that is neither a word nor a space: "n't" and "!" say much about a review."""


def word_tfidf() -> TfidfVectorizer:
    """Return lower-cased words and pairs of neighbors, weighted by TF-IDF with logarithmic counts; rows of length 1."""
    return TfidfVectorizer(token_pattern=WORD, ngram_range=(1, 2), sublinear_tf=True, dtype=np.float32)


def character_tfidf() -> TfidfVectorizer:
    """Return runs of 2 to 5 characters inside words, weighted likewise."""
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, dtype=np.float32)


def word_presence() -> CountVectorizer:
    """Return 1 for every word and pair of neighbors that is there, however often."""
    return CountVectorizer(token_pattern=WORD, ngram_range=(1, 2), binary=True, dtype=np.float32)


class Sides(TransformerMixin, BaseEstimator):
    """The rows of texts; of pairs both texts', and how the two differ and agree: ``[u; v; |u - v|; u * v]``.

    Both texts of a pair share one vocabulary.

    Args:
        vectorizer: what makes a row of a text.
    """

    def __init__(self, vectorizer: Any) -> None:
        self.vectorizer = vectorizer

    def fit(self, X: Texts, y: object = None) -> Self:
        """Collect the vocabulary of training texts."""
        self.vectorizer.fit([text for texts in X for text in texts])
        self.is_fitted_ = True
        return self

    @property
    def bytes(self) -> int:
        """What the vocabulary takes on disk: each n-gram as text with an end, and its weight in 4 bytes."""
        return sum(len(term.encode("utf-8")) + 5 for term in self.vectorizer.vocabulary_)

    def transform(self, X: Texts) -> sparse.csr_matrix:
        """Return one sparse row an example."""
        columns = [self.vectorizer.transform(list(side)) for side in zip(*X, strict=True)]
        return columns[0].tocsr() if len(columns) == 1 else compared(*columns)


def compared(u: sparse.csr_matrix, v: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return ``[u; v; |u - v|; u * v]`` of sparse rows."""
    return sparse.hstack([u, v, abs(u - v), u.multiply(v)], format="csr")
