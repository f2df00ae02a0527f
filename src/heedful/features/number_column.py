"""A column of numbers: its value in standard deviations, and which fifth of the training values it lies in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from heedful.features.cells import Cell, number_in
from heedful.features.feature_column import MISSING, FeatureColumn, Parsed
from heedful.features.feature_kinds import Kind

_FIFTH = 0.5
"""How large the number of a fifth is beside a standard deviation: what is not a line is learned more slowly."""
_DIFFERENT = 20
"""From this many different values on, numbers are divided into fifths."""
_TAIL = 0.005
"""Share of the values at each end that count as the value where it begins, so that a slip of the pen moves nothing."""


@dataclass(frozen=True)
class NumberColumn(FeatureColumn):
    """A column of numbers.

    Attributes:
        center: mean of the training values.
        scale: their standard deviation; 1 where they do not differ.
        least: a smaller value counts as this one.
        greatest: a greater one as this one.
        edges: where the second fifth of the values begins, and so on; empty where few values differ.
    """

    kind: ClassVar[Kind] = "number"
    center: float = 0.0
    scale: float = 1.0
    least: float = 0.0
    greatest: float = 0.0
    edges: tuple[float, ...] = ()

    @classmethod
    def of(cls, name: str, values: Sequence[float]) -> Self:
        """Return the column of training values, missing ones left out.

        Args:
            name: of the column.
            values: the numbers; may be none.

        Returns:
            The column.
        """
        if not values:
            return cls(name)
        found = np.array(values, np.float64)
        low, high = np.quantile(found, [_TAIL, 1 - _TAIL])
        least, greatest = (low, high) if low < high else (found.min(), found.max())
        inside = found.clip(least, greatest)
        edges = np.unique(np.quantile(inside, [0.2, 0.4, 0.6, 0.8]))
        edges = edges[edges > least] if len(np.unique(found)) >= _DIFFERENT else edges[:0]
        spread = (
            float(inside.std()) if inside.min() < inside.max() else 0.0
        )  # of equal numbers it is all rounding
        return cls(
            name,
            float(inside.mean()),
            spread or 1.0,
            float(least),
            float(greatest),
            tuple(edges.tolist()),
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """See `FeatureColumn.parts`."""
        fifths = range(1, len(self.edges) + 2) if self.edges else ()
        return (MISSING, "value", *(f"part {number}" for number in fifths))

    def parse(self, cell: Cell) -> Parsed:
        """See `FeatureColumn.parse`."""
        return number_in(cell)

    def features(self, value: Parsed) -> Sequence[tuple[int, float]]:
        """See `FeatureColumn.features`."""
        if not isinstance(value, float):
            return ((0, 1.0),)
        inside = min(max(value, self.least), self.greatest)
        line = (1, (inside - self.center) / self.scale)
        return (line, (2 + bisect_right(self.edges, inside), _FIFTH)) if self.edges else (line,)

    def summary(self) -> str:
        """See `FeatureColumn.summary`."""
        return f"number, {self.least:.6g} to {self.greatest:.6g}"
