"""What several baselines read of the same texts, read once: the words of a text are three baselines' features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

MOST_TEXTS = 30_000
"""Texts whose rows are kept at most: of more they would take much memory beside what a baseline is fitted on."""
_KEPT = 3


@dataclass
class FeatureCache:
    """What has been read with one kind of vectorizer.

    Attributes:
        make: makes an untrained vectorizer.
        fitted: texts with the vectorizer that was fitted to them and their rows, the latest last.
        read: texts with the vectorizer that read them and their rows.
    """

    make: Callable[[], TfidfVectorizer]
    fitted: list[tuple[list[str], TfidfVectorizer, sparse.csr_matrix]] = field(default_factory=list)
    read: list[tuple[list[str], TfidfVectorizer, sparse.csr_matrix]] = field(default_factory=list)

    def fit(self, texts: Sequence[str]) -> tuple[TfidfVectorizer, sparse.csr_matrix]:
        """Return a vectorizer that was fitted to texts, and their rows."""
        own = list(texts)
        for seen, vectorizer, rows in self.fitted:
            if seen == own:
                return vectorizer, rows
        vectorizer = self.make()
        rows = vectorizer.fit_transform(own).tocsr()
        rows.sort_indices()
        _keep(self.fitted, own, vectorizer, rows)
        return vectorizer, rows

    def rows(self, vectorizer: TfidfVectorizer, texts: Sequence[str]) -> sparse.csr_matrix:
        """Return the rows of texts by a vectorizer that `fit` returned."""
        own = list(texts)
        for seen, by, rows in self.read:
            if by is vectorizer and seen == own:
                return rows
        rows = vectorizer.transform(own).tocsr()
        if any(by is vectorizer for _, by, _ in self.fitted):  # nobody else will ask for those of another
            _keep(self.read, own, vectorizer, rows)
        return rows


def _keep(
    shelf: list[tuple[list[str], TfidfVectorizer, sparse.csr_matrix]],
    texts: list[str],
    vectorizer: TfidfVectorizer,
    rows: sparse.csr_matrix,
) -> None:
    if len(texts) <= MOST_TEXTS:
        shelf.append((texts, vectorizer, rows))
        del shelf[:-_KEPT]


class RunsTfidf(TfidfVectorizer):
    """What `TfidfVectorizer` gives for runs of characters inside words, of which each distinct word is read once."""

    def fit(self, raw_documents: Sequence[str], y: object = None) -> Self:
        """Collect the vocabulary of training texts."""
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Sequence[str], y: object = None) -> sparse.csr_matrix:
        """Collect the vocabulary of training texts and return their rows."""
        places, words = _words_of(raw_documents)
        self.runs_ = CountVectorizer(
            analyzer="char_wb", ngram_range=self.ngram_range, lowercase=False, dtype=self.dtype
        )
        counts = places @ self.runs_.fit_transform(words)
        self.vocabulary_ = self.runs_.vocabulary_
        self.rarity_ = TfidfTransformer(sublinear_tf=self.sublinear_tf)
        return self.rarity_.fit_transform(counts)

    def transform(self, raw_documents: Sequence[str]) -> sparse.csr_matrix:
        """Return one row a text."""
        places, words = _words_of(raw_documents)
        return self.rarity_.transform(places @ self.runs_.transform(words))


def _words_of(texts: Sequence[str]) -> tuple[sparse.csr_matrix, list[str]]:
    """Return how often each text has each word, [N, W], and the words in lower case."""
    numbers: dict[str, int] = {}
    columns, ends = list[int](), [0]
    for text in texts:
        columns += [numbers.setdefault(word, len(numbers)) for word in text.lower().split()]
        ends.append(len(columns))
    ones = np.ones(len(columns), np.float32)
    return sparse.csr_matrix((ones, columns, ends), (len(texts), len(numbers))), list(numbers)


class ReadOnce(BaseEstimator):
    """A vectorizer whose rows others of the same shelf have as well.

    Args:
        shelf: what has been read.
        presence: whether every value is 1, in place of its weight.
    """

    def __init__(self, shelf: FeatureCache, presence: bool = False) -> None:
        self.shelf, self.presence = shelf, presence

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Each n-gram with its column."""
        found: dict[str, int] = self.own_.vocabulary_
        return found

    def fit(self, texts: Sequence[str], y: object = None) -> Self:
        """Collect the vocabulary of training texts."""
        self.own_, _ = self.shelf.fit(texts)
        return self

    def fit_transform(self, texts: Sequence[str], y: object = None) -> sparse.csr_matrix:
        """Collect the vocabulary of training texts and return their rows."""
        self.own_, rows = self.shelf.fit(texts)
        return self._valued(rows)

    def transform(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Return one row a text."""
        return self._valued(self.shelf.rows(self.own_, texts))

    def _valued(self, rows: sparse.csr_matrix) -> sparse.csr_matrix:
        """Return rows that share their places with those of the shelf."""
        if not self.presence:
            return rows
        return sparse.csr_matrix((np.ones_like(rows.data), rows.indices, rows.indptr), rows.shape, copy=False)
