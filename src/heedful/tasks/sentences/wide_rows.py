"""The rows of a wide part for very many texts: which features each has, and the values made from that when needed.

The value of a feature is its rarity over a norm of the text's, so that four bytes a feature say everything, where a
sparse matrix takes twelve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Ragged
from heedful.storage.growing_arrays import GrowingArray, released
from heedful.tasks.sentences.linear_targets import Floats
from heedful.tasks.sentences.row_blocks import BlockedRows
from heedful.text.wide_part import CHARACTERS, WidePart

if TYPE_CHECKING:
    from scipy import sparse

_READ = 4096
"""Texts of which features are looked up at once."""
_BLOCK = 3_000_000
"""Values of a block at most, unless one text has more."""
_KINDS = CHARACTERS + 1


@dataclass(frozen=True, eq=False)
class WideRows(BlockedRows):
    """The values of the features that a part knows, one row an example.

    Attributes:
        columns: for each example the rows of its features in the part, ascending.
        norms: what the rarities of each kind of features are divided by, [N, 2].
        rarity: of each feature, [n].
        kinds: of each feature, [n].
        scales: what the values of each feature are multiplied by, [n]; None for nothing.
        present: whether every value is 1.
    """

    columns: Ragged
    norms: Floats
    rarity: Floats
    kinds: NDArray[np.int8]
    scales: Floats | None = None
    present: bool = False

    @classmethod
    def of(cls, part: WidePart, features: Ragged) -> WideRows:
        """Look up the features of examples.

        Args:
            part: says which features are known, and how rare each is.
            features: of each example, from `heedful.text.wide_part.PhraseRule.numbers`.

        Returns:
            The rows.
        """
        rarity = part.rarity.astype(np.float64)
        kinds = (part.numbers & 1).astype(np.int8)
        columns = GrowingArray(np.int32)
        lengths, norms = np.zeros(len(features), np.int64), np.ones((len(features), _KINDS))
        for start in range(0, len(features), _READ):
            end = min(start + _READ, len(features))
            bounds = features.offsets[start : end + 1]
            numbers = np.asarray(features.values[bounds[0] : bounds[-1]])
            places = np.searchsorted(part.numbers, numbers).clip(max=max(len(rarity) - 1, 0))
            known = part.numbers[places] == numbers if len(rarity) else np.zeros(len(numbers), np.bool_)
            counted = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])[bounds - bounds[0]]
            lengths[start:end] = np.diff(counted)
            found = places[known]
            columns.append(found)
            _measure(norms[start:end], rarity[found], kinds[found], counted)
            released(features.values)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        return cls(Ragged(columns.finished(), offsets), norms, rarity, kinds)

    @property
    def shape(self) -> tuple[int, int]:
        """See `BlockedRows.shape`."""
        return len(self.columns), len(self.rarity)

    @property
    def nnz(self) -> int:
        """Values that are not 0."""
        return len(self.columns.values)

    def whole(self) -> sparse.csr_matrix:
        """Return all rows as one sparse matrix."""
        return self._matrix(0, len(self.columns))

    def blocks(self) -> Iterator[tuple[slice, sparse.csr_matrix]]:
        """See `BlockedRows.blocks`."""
        start, count, offsets = 0, len(self.columns), self.columns.offsets
        while start < count:
            end = int(np.searchsorted(offsets, offsets[start] + _BLOCK, side="right")) - 1
            end = min(max(end, start + 1), count)
            yield slice(start, end), self._matrix(start, end)
            released(self.columns.values)
            start = end

    def scaled(self, scales: Floats) -> WideRows:
        """Return the same rows with the values of each feature multiplied."""
        return replace(self, scales=scales)

    def presence(self) -> WideRows:
        """Return 1 where there is a value."""
        return replace(self, present=True)

    def squares(self) -> Floats:
        """See `BlockedRows.squares`."""
        total = np.zeros((self.shape[1], 1))
        for _, block in self.blocks():
            total = self._added(total, block.multiply(block).tocsr(), np.ones((block.shape[0], 1)))
        return total[:, 0]

    def __getitem__(self, places: NDArray[np.int64]) -> WideRows:
        """See `BlockedRows`."""
        columns = GrowingArray(np.int32)
        for start in range(0, len(places), _READ):
            columns.append(self.columns.take(places[start : start + _READ]).values)
            released(self.columns.values)
        lengths = self.columns.lengths()[places]
        kept = Ragged(columns.finished(), np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]))
        return replace(self, columns=kept, norms=self.norms[places])

    def _matrix(self, start: int, end: int) -> sparse.csr_matrix:
        from scipy import sparse

        offsets = self.columns.offsets[start : end + 1]
        found = np.asarray(self.columns.values[offsets[0] : offsets[-1]])
        if self.present:
            values = np.ones(len(found))
        else:
            values = self.rarity[found]
            norm = np.repeat(np.arange(start, end) * _KINDS, np.diff(offsets))
            norm += self.kinds[found]
            values /= self.norms.ravel()[norm]
            if self.scales is not None:
                values *= self.scales[found]
        return sparse.csr_matrix((values, found, offsets - offsets[0]), shape=(end - start, self.shape[1]))

    def _added(
        self, total: Floats, block: NDArray[np.floating] | sparse.csr_matrix, slopes: Floats
    ) -> Floats:
        from scipy import sparse

        # One more row for each feature, which holds the sum so far: it is added first, then the rows in their order.
        count, block = len(total), sparse.csr_matrix(block)
        above = sparse.csr_matrix(
            (
                np.concatenate([np.ones(count), block.data]),
                np.concatenate([np.arange(count, dtype=block.indices.dtype), block.indices]),
                np.concatenate([np.arange(count, dtype=block.indptr.dtype), block.indptr + count]),
            ),
            shape=(count + block.shape[0], count),
        )
        return np.asarray(above.T @ np.concatenate([total, slopes]))


def _measure(norms: Floats, rarity: Floats, kinds: NDArray[np.int8], counted: NDArray[np.int64]) -> None:
    """Write the Euclidean norm of the rarities of each kind that each text has; 1 for a text without any."""
    for kind in range(_KINDS):
        own = kinds == kind
        values = rarity[own]
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(own)])[counted].tolist()
        for row, (start, end) in enumerate(pairwise(bounds)):
            norms[row, kind] = np.linalg.norm(values[start:end]) or 1.0
