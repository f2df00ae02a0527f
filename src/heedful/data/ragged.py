"""Rows of different lengths in one flat array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Ragged:
    """Integers in rows of different lengths: row i is ``values[offsets[i]:offsets[i + 1]]``.

    Attributes:
        values: all rows end to end, [T] int32.
        offsets: where each row starts, and the end of the last, [N + 1] int64.
    """

    values: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def lengths(self) -> NDArray[np.int64]:
        """Return the length of each row, [N] int64."""
        return np.diff(self.offsets)

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the values of chosen rows stand in `values`, row after row."""
        lengths = self.lengths()[rows]
        ends = np.cumsum(lengths)
        places: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(
            self.offsets[rows] - ends + lengths, lengths
        )
        return places

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Return chosen rows in the order asked for."""
        return self._pieces(self.offsets[rows], self.lengths()[rows])

    def head(self, longest: int | NDArray[np.int64]) -> Ragged:
        """Return the first `longest` values of each row; one number for all rows, or one a row."""
        return self._pieces(self.offsets[:-1], np.minimum(self.lengths(), longest))

    def _pieces(self, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Ragged:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        index = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Ragged(self.values[index], offsets)


def lengths_of(sides: tuple[Ragged, ...], count: int) -> NDArray[np.int64]:
    """Return the row lengths of several columns of `count` rows each, [N, sides] int64."""
    lengths = [side.lengths() for side in sides]
    return np.stack(lengths, axis=1) if lengths else np.zeros((count, 0), np.int64)
