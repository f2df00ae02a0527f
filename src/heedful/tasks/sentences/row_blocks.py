"""Rows of very many examples, of which one block at a time is in memory: all that a linear fit asks of a matrix.

Every product has the bits of the same product of the whole matrix: a row of ``X W`` depends on no other row, and
``Xᵀ S`` is summed in the order of the rows, each block being added to what those before it gave.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.storage.growing_arrays import GrowingArray, released
from heedful.tasks.sentences.linear_targets import Floats

if TYPE_CHECKING:
    from typing import Self

    from scipy import sparse

_DENSE_BLOCK = 3072
"""Rows of a dense block: a multiple of the rows that matrix products sum at once, so that sums have the same bits."""


class BlockedRows(ABC):
    """A matrix X, [N, n], of which only products are asked."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """N and n."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, NDArray[np.floating] | sparse.csr_matrix]]:
        """Yield the rows block by block, and which they are."""

    @abstractmethod
    def _added(
        self, total: Floats, block: NDArray[np.floating] | sparse.csr_matrix, slopes: Floats
    ) -> Floats:
        """Return a sum, [n, Y], and the product of a transposed block and its slopes, in the order of the rows."""

    @abstractmethod
    def __getitem__(self, places: NDArray[np.int64]) -> Self:
        """Return some of the rows."""

    def __matmul__(self, weights: Floats) -> Floats:
        """Return X W for weights [n, Y], [N, Y]."""
        found = np.empty((self.shape[0], weights.shape[1]))
        for own, block in self.blocks():
            found[own] = block @ weights
        return found

    @property
    def T(self) -> TransposedRows:
        """The transposed matrix, which may be multiplied."""
        return TransposedRows(self)

    def transposed_product(self, slopes: Floats) -> Floats:
        """Return Xᵀ S for slopes [N, Y], [n, Y]."""
        total = np.zeros((self.shape[1], slopes.shape[1]))
        for own, block in self.blocks():
            total = self._added(total, block, slopes[own])
        return total

    @abstractmethod
    def squares(self) -> Floats:
        """Return the squared length of each column, [n]."""


@dataclass(frozen=True, eq=False)
class TransposedRows:
    """The transpose of rows in blocks.

    Attributes:
        rows: the rows.
    """

    rows: BlockedRows

    def __matmul__(self, slopes: Floats) -> Floats:
        """Return Xᵀ S for slopes [N, Y] or [N]; see `BlockedRows.transposed_product`."""
        if slopes.ndim == 1:
            return self.rows.transposed_product(slopes[:, None])[:, 0]
        return self.rows.transposed_product(slopes)


class DenseRows(BlockedRows):
    """Rows of plain numbers, which may lie in a file.

    Args:
        array: the numbers, [N, n].
    """

    def __init__(self, array: NDArray[np.floating]) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, int]:
        """See `BlockedRows.shape`."""
        return self.array.shape[0], self.array.shape[1]

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """See `BlockedRows.blocks`; the last block has up to twice as many rows."""
        bounds = [*range(0, max(len(self.array) - _DENSE_BLOCK, 1), _DENSE_BLOCK), len(self.array)]
        for start, end in pairwise(bounds):
            yield slice(start, end), self.array[start:end]
            released(self.array)

    def _added(
        self, total: Floats, block: NDArray[np.floating] | sparse.csr_matrix, slopes: Floats
    ) -> Floats:
        from scipy.linalg.blas import dgemm

        # in columns, as BLAS stores what NumPy has in rows: totalᵀ += slopesᵀ block
        columns = np.asarray(block, np.float64).T
        added = dgemm(1.0, slopes.T, columns, beta=1.0, c=total.T, trans_b=1, overwrite_c=1)
        return np.asarray(added).T

    def __getitem__(self, places: NDArray[np.int64]) -> DenseRows:
        """See `BlockedRows`."""
        kept = GrowingArray(self.array.dtype.type, self.shape[1])
        for start in range(0, len(places), _DENSE_BLOCK):
            kept.append(self.array[places[start : start + _DENSE_BLOCK]])
            released(self.array)
        return DenseRows(kept.finished())

    def squares(self) -> Floats:
        """See `BlockedRows.squares`."""
        total = np.zeros(self.shape[1])
        for _, block in self.blocks():
            total = np.concatenate([total[None], np.asarray(block, np.float64) ** 2]).sum(axis=0)
        return total

    def products(self) -> NDArray[np.floating]:
        """Return the products of the columns, Xᵀ X, [n, n], in the type of the numbers."""
        found = self.array.T @ self.array
        released(self.array)
        return found

    def turned(self, vectors: Floats) -> BlockedRows:
        """Return X V for vectors [n, r]."""
        kept = GrowingArray(np.float64, vectors.shape[1])
        for _, block in self.blocks():
            kept.append(block @ vectors)
        return DenseRows(kept.finished())
