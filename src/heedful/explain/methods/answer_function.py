"""An answer as a function of the words that remain in its text. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UsageError

Kept = tuple[tuple[int, ...], ...]
"""For each side the places of the words that remain."""


@dataclass(frozen=True, eq=False)
class Question:
    """The value of an answer for any choice of the words of its text.

    Attributes:
        words: the words of each side that the network read.
        values: takes choices of words, each with one tuple of places a side; returns one number for each, [N]. The
            first choice that it is ever asked is all words.
        of: what the number is, as a noun phrase: "the probability of “good”".
        fixed: words that always remain, as (side, place): the word whose tag is explained.
        mask: what stands in the place of a word that does not remain, for a network that was trained with masked words
            (``train.word_mask``); None deletes the word, and nothing takes its place.
    """

    words: tuple[tuple[str, ...], ...]
    values: Callable[[Sequence[Kept]], ArrayLike]
    of: str
    fixed: frozenset[tuple[int, int]] = frozenset()
    mask: str | None = None

    @property
    def places(self) -> list[tuple[int, int]]:
        """The P words that may be deleted, as (side, place)."""
        all_of_them = ((side, i) for side, column in enumerate(self.words) for i in range(len(column)))
        return [place for place in all_of_them if place not in self.fixed]

    def evaluate(self, keep: ArrayLike) -> NDArray[np.float64]:
        """Return the values for choices of words; all of them are computed at once, and equal ones once.

        Args:
            keep: True where a word remains, [N, P] bool.

        Returns:
            The values, [N].

        Raises:
            UsageError: if they are not finite numbers.
        """
        rows = np.asarray(keep, dtype=bool)
        distinct: dict[bytes, int] = {}
        numbers = [distinct.setdefault(row.tobytes(), len(distinct)) for row in rows]
        first = {number: row for row, number in zip(reversed(rows), reversed(numbers), strict=True)}
        values = np.asarray(self.values([self._kept(first[k]) for k in range(len(distinct))]), np.float64)
        if values.shape != (len(distinct),) or not np.isfinite(values).all():
            raise UsageError(
                f"a question must be answered with {len(distinct)} finite numbers; got {list(values.shape)}"
            )
        answer: NDArray[np.float64] = values[numbers]
        return answer

    def by_side(self, values: ArrayLike, rest: float = 0.0) -> tuple[NDArray[np.float64], ...]:
        """Deal one number for each word that may be deleted, [P], to the words of the sides; others get ``rest``."""
        sides = tuple(np.full(len(column), rest) for column in self.words)
        for (side, i), value in zip(self.places, np.asarray(values, np.float64).tolist(), strict=True):
            sides[side][i] = value
        return sides

    def flat(self, sides: Sequence[ArrayLike]) -> NDArray[np.float64]:
        """Return the numbers of the words that may be deleted, [P], from those of all words of each side."""
        columns = [np.asarray(column, np.float64) for column in sides]
        if [column.shape for column in columns] != [(len(column),) for column in self.words]:
            raise UsageError(
                f"weights need one number a word on each side; got words {[len(column) for column in self.words]} and "
                f"weights {[list(column.shape) for column in columns]}."
            )
        return np.array([columns[side][i] for side, i in self.places], np.float64)

    def _kept(self, row: NDArray[np.bool_]) -> Kept:
        gone = {place for place, stays in zip(self.places, row.tolist(), strict=True) if not stays}
        return tuple(
            tuple(i for i in range(len(column)) if (side, i) not in gone)
            for side, column in enumerate(self.words)
        )


def remaining(words: Sequence[str], kept: Sequence[int], mask: str | None) -> list[str]:
    """Return the words at the places that remain, with ``mask`` at the others where it is not None."""
    if mask is None:
        return [words[i] for i in kept]
    stay = set(kept)
    return [word if i in stay else mask for i, word in enumerate(words)]
