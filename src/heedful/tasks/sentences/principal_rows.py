"""Rows turned to their principal directions, in which a regularized linear model is found in few steps.

A fit with a squared penalty lies in the span of the rows, so N rows of n features need no more than min(N, n) weights
an output. In the directions of the eigenvectors the curvature of the loss is close to diagonal, which tells how long a
step each weight may take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heedful.storage.growing_arrays import MOST_BYTES
from heedful.tasks.sentences.linear_targets import Floats
from heedful.tasks.sentences.row_blocks import BlockedRows, DenseRows

if TYPE_CHECKING:
    from scipy import sparse

WholeRows: TypeAlias = "sparse.csr_matrix | NDArray[np.floating]"
Rows: TypeAlias = "sparse.csr_matrix | NDArray[np.floating] | BlockedRows"
"""A row an example, sparse or not or in blocks, [N, n]."""
MOST_DIRECTIONS = 2_000
"""Directions up to which rows are turned: finding them takes the third power of their number."""
_LEAST = 1e-10


@dataclass(frozen=True, eq=False)
class TurnedRows:
    """Rows X with what makes fits on them fast.

    Attributes:
        rows: the rows in their directions, [N, r]; X itself where they are not turned.
        sizes: squared length of each column of them, [r].
        back: turns weights of the directions, [r, Y], into weights of the features, [n, Y].
    """

    rows: Rows
    sizes: Floats
    back: Callable[[Floats], Floats]

    @classmethod
    def as_is(cls, rows: Rows) -> TurnedRows:
        """Take rows that have too many directions to be turned, or are in theirs."""
        return cls(rows, _squares(rows), lambda weights: weights)

    @classmethod
    def turning(cls, rows: Rows) -> TurnedRows:
        """Turn rows where they have few enough directions.

        Args:
            rows: one an example, [N, n].

        Returns:
            The turned rows.
        """
        count, features = rows.shape
        if min(count, features) > MOST_DIRECTIONS:
            return cls.as_is(rows)
        if isinstance(rows, DenseRows):
            squared, vectors = directions(dense(rows.products()))
            return cls(rows.turned(vectors), squared, lambda weights: vectors @ weights)
        assert not isinstance(rows, BlockedRows)  # those of words and characters have more features
        if count < features:
            squared, vectors = directions(dense(rows @ rows.T))
            lengths = np.sqrt(squared)
            return cls(
                vectors * lengths,
                squared,
                lambda weights: np.asarray(rows.T @ (vectors @ (weights / lengths[:, None]))),
            )
        squared, vectors = directions(dense(rows.T @ rows))
        return cls(np.asarray(rows @ vectors), squared, lambda weights: vectors @ weights)

    def of_some(self, places: NDArray[np.int64]) -> TurnedRows:
        """Return some of the rows in the same directions."""
        rows = self.rows[places]
        return TurnedRows(rows, _squares(rows), self.back)


def directions(products: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of products of rows that are not 0, [r], and their eigenvectors, [., r]."""
    values, vectors = np.linalg.eigh(products)
    kept = values > _LEAST * max(float(values[-1]), 1e-300) if len(values) else np.zeros(0, np.bool_)
    return values[kept], vectors[:, kept]


def in_blocks(array: NDArray[np.floating]) -> NDArray[np.floating] | DenseRows:
    """Return rows as they are where their products are small or the examples few, else in blocks."""
    few = array.size * 8 <= MOST_BYTES or len(array) <= MOST_DIRECTIONS
    return array if few else DenseRows(array)


def as_array(rows: Rows) -> NDArray[np.floating]:
    """Return rows of plain numbers as one array, also those that lie in blocks."""
    return rows.array if isinstance(rows, DenseRows) else np.asarray(rows)


def whole(rows: Rows) -> WholeRows:
    """Return rows that are known not to lie in blocks."""
    assert not isinstance(rows, BlockedRows)
    return rows


def dense(products: NDArray[np.floating] | sparse.csr_matrix) -> Floats:
    """Return products of rows as a plain array."""
    plain = products if isinstance(products, np.ndarray) else products.toarray()
    return np.asarray(plain, np.float64)


def _squares(rows: Rows) -> Floats:
    if isinstance(rows, BlockedRows):
        return rows.squares()
    if isinstance(rows, np.ndarray):
        return np.asarray((rows.astype(np.float64) ** 2).sum(axis=0))
    return np.asarray(rows.multiply(rows).sum(axis=0), np.float64).ravel()
