"""Heads of a corpus: one number beside each word number, in the same rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.ragged import Ragged
from heedful.text.dependency import UNKNOWN, cut_heads, mistake_in, padded_distances, split_heads


class HeadColumn:
    """The heads of one column of texts while it grows; costs nothing while no text has any."""

    def __init__(self) -> None:
        self._given: list[tuple[int, Sequence[int]]] = []

    def __len__(self) -> int:
        return len(self._given)

    def append(self, heads: Sequence[int] | None, pieces: Sequence[int], row: int) -> str | None:
        """Take the heads of the next text.

        Args:
            heads: of each word as it was given, or of each piece that the tokenizer made of the words; None for none.
            pieces: number of pieces of each given word.
            row: place of the text in the column.

        Returns:
            What is wrong with them, or None.
        """
        if heads is None:
            return None
        total = sum(pieces)
        if len(heads) not in (len(pieces), total):
            words = f"{total} words" if total == len(pieces) else f"{len(pieces)} words ({total} pieces)"
            return f"heads must be as many as there are words; got {len(heads)} for {words}"
        if not all(isinstance(head, int) for head in heads):
            return f"heads must be whole numbers, 0 for a root; got {list(heads)!r:.80}"
        mistake = mistake_in(np.array(heads, np.int64), np.array([0, len(heads)]))
        if mistake is not None:
            return f"word {mistake[1] + 1}: {mistake[2]}"
        self._given.append((row, heads if len(heads) == total else split_heads(heads, pieces)))
        return None

    def ragged(self, offsets: NDArray[np.int64]) -> Ragged:
        """Return the column, -1 where no heads were given."""
        values = np.full(int(offsets[-1]), UNKNOWN, np.int32)
        for row, heads in self._given:
            values[offsets[row] : offsets[row + 1]] = heads
        return Ragged(values, offsets)


def cut(heads: Ragged, longest: int | NDArray[np.int64]) -> Ragged:
    """Return the heads of the first words of each text; see `heedful.text.dependency.cut_heads`.

    Args:
        heads: of all words.
        longest: words that stay, one number for all texts or one a text.

    Returns:
        The heads of the words that stay.
    """
    kept = heads.head(longest)
    values = kept.values.copy()
    for row in np.flatnonzero(heads.lengths() > longest):
        start, end = kept.offsets[row : row + 2]
        values[start:end] = cut_heads(heads[int(row)].tolist(), int(end - start))
    return Ragged(values, kept.offsets)


def distances(heads: Ragged, rows: NDArray[np.int64], longest: int) -> NDArray[np.int16]:
    """Return the tree distances of chosen texts, padded: [B, longest, longest], -1 where no path is known."""
    chosen = heads.take(rows)
    lengths = chosen.lengths()
    padded = np.full((len(rows), longest), UNKNOWN, np.int64)
    padded[np.arange(longest) < lengths[:, None]] = chosen.values
    return padded_distances(padded, lengths)
