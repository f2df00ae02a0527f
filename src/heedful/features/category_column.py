"""A column of categories: one number each for those that training met often enough, and one for all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from heedful.features.cells import Cell, category_in
from heedful.features.feature_column import MISSING, FeatureColumn, Parsed
from heedful.features.feature_kinds import Kind

MOST = 1_000
"""Categories with a number of their own at most, the most frequent ones."""
_OFTEN = 2


@dataclass(frozen=True)
class CategoryColumn(FeatureColumn):
    """A column of categories.

    Attributes:
        values: the categories with a number of their own.
        count: how many different ones training had.
    """

    kind: ClassVar[Kind] = "category"
    values: tuple[str, ...] = ()
    count: int = 0

    @classmethod
    def of(cls, name: str, values: Sequence[str]) -> Self:
        """Return the column of training values, missing ones left out.

        A category that training met once stands for those that it never met: all of them share a number.

        Args:
            name: of the column.
            values: the categories; may be none.

        Returns:
            The column.
        """
        counts = Counter(values)
        often = sorted((each for each in counts if counts[each] >= _OFTEN), key=lambda x: (-counts[x], x))
        return cls(name, tuple(sorted(often[:MOST])), len(counts))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {value: place for place, value in enumerate(self.values, start=2)}

    @property
    def parts(self) -> tuple[str, ...]:
        """See `FeatureColumn.parts`."""
        return (MISSING, "others", *self.values)

    def parse(self, cell: Cell) -> Parsed:
        """See `FeatureColumn.parse`."""
        return category_in(cell)

    def features(self, value: Parsed) -> Sequence[tuple[int, float]]:
        """See `FeatureColumn.features`."""
        return ((0 if value is None else self._places.get(str(value), 1), 1.0),)

    def shown(self, value: Parsed) -> str:
        """See `FeatureColumn.shown`; a category without a number of its own is marked."""
        known = value is None or value in self._places
        return super().shown(value) if known else f"{value} (as other rare ones)"

    def summary(self) -> str:
        """See `FeatureColumn.summary`."""
        rest = self.count - len(self.values)
        kinds = f"category, {self.count:,} value{'s' * (self.count != 1)}"
        return f"{kinds}, of which {rest:,} rare ones share a weight" if rest else kinds
