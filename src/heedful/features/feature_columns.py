"""The columns that a model reads beside the text: fitted on training rows, read from requests, kept in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from heedful.errors import DataError, UsageError
from heedful.features.category_column import CategoryColumn
from heedful.features.cells import Cell, Cells, is_missing_cell, named_cell
from heedful.features.date_column import DateColumn
from heedful.features.feature_column import FeatureColumn, Parsed, not_of_kind
from heedful.features.feature_kinds import Kind, Wanted, kind_of_cells
from heedful.features.number_column import NumberColumn
from heedful.storage.fields import Fields

VERSION = 1
"""Of what a folder keeps."""
_OF_KIND: Mapping[Kind, type[NumberColumn] | type[CategoryColumn] | type[DateColumn]] = {
    "number": NumberColumn,
    "category": CategoryColumn,
    "date": DateColumn,
}
Row = tuple[Parsed, ...]
"""The values of a row as the columns read them, in their order."""


@dataclass(frozen=True)
class FeatureColumns:
    """The columns, as training found them.

    Attributes:
        columns: each of them.

    Raises:
        UsageError: if there is none, or a name is there twice.
    """

    columns: tuple[FeatureColumn, ...]

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.names)) < len(self.columns):
            raise UsageError("columns: expected one or more, each of a name of its own")

    @classmethod
    def fitted(
        cls, wanted: Sequence[Wanted], rows: Sequence[Sequence[Cell]], where: Callable[[int], str]
    ) -> Self:
        """Fit columns to training rows.

        Args:
            wanted: the columns.
            rows: for each training row the plain value of each column.
            where: names a row in a message, by its place in ``rows``.

        Returns:
            The columns.

        Raises:
            DataError: if a value is not of the kind that the user named, or nothing can be learned of a column because
                every row has another value.
        """
        found: list[FeatureColumn] = []
        for place, each in enumerate(wanted):
            cells = [row[place] for row in rows]
            found.append(_fitted(each.name, each.kind or kind_of_cells(cells), cells, where))
        return cls(tuple(found))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the numbers of each column begin, and the end of the last."""
        return tuple(accumulate((column.width for column in self.columns), initial=0))

    @property
    def width(self) -> int:
        """Numbers F of a row."""
        return self.starts[-1]

    def read(self, cells: Cells | None, where: str) -> Row:
        """Return what the values of a request say.

        Args:
            cells: values by the name of their column; further ones are passed over.
            where: the request, for messages.

        Returns:
            The values, in the order of the columns.

        Raises:
            DataError: if a column is not there, or a value is of another kind.
        """
        return tuple(column.read(named_cell(cells, column.name, where), where) for column in self.columns)

    def read_plain(self, row: Sequence[Cell], where: str) -> Row:
        """Return what plain values say that stand in the order of the columns; see `read`."""
        return tuple(column.read(cell, where) for column, cell in zip(self.columns, row, strict=True))

    def features(self, row: Row) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the numbers of a row that are not 0: their places, [k], and values, [k]."""
        found = [
            (start + place, value)
            for start, column, cell in zip(self.starts, self.columns, row, strict=False)
            for place, value in column.features(cell)
        ]
        places, values = zip(*found, strict=True)
        return np.array(places, np.int64), np.array(values, np.float64)

    def summary(self) -> str:
        """Return what the columns are, in one line."""
        return ", ".join(f"“{column.name}” ({column.summary()})" for column in self.columns)

    def table(self) -> list[dict[str, object]]:
        """Return what a folder keeps of the columns."""
        return [column.table() for column in self.columns]


def _fitted(name: str, kind: Kind, cells: Sequence[Cell], where: Callable[[int], str]) -> FeatureColumn:
    reader = _OF_KIND[kind](name)
    values = []
    for place, cell in enumerate(cells):
        if not (is_missing_cell(cell) and kind != "category"):
            value = reader.parse(cell)
            if value is None and cell is not None and str(cell).strip():
                raise not_of_kind(kind, name, cell, where(place))
            values += [] if value is None else [value]
    column: FeatureColumn = _OF_KIND[kind].of(name, values)  # type: ignore[arg-type]
    if isinstance(column, CategoryColumn) and len(values) > 1 and not column.values:
        raise DataError(
            f"column {name!r}: each of the {len(values):,} rows has another value, of which nothing can be learned; "
            f"leave it out, or say what it is: --feature {name}:number or {name}:date"
        )
    return column


def read_columns(records: Sequence[Fields]) -> FeatureColumns:
    """Read what `FeatureColumns.table` wrote.

    Args:
        records: of each column.

    Returns:
        The columns.

    Raises:
        Exception: that of the fields, naming the one that is wrong.
        UsageError: if a column is there twice.
    """
    return FeatureColumns(tuple(map(_column_of, records)))


def _column_of(fields: Fields) -> FeatureColumn:
    name, kind = fields.text("name"), fields.text("kind")
    if kind == "category":
        values = fields.texts("values")
        if len(set(values)) < len(values):
            raise fields.wrong("values", "holds a category twice")
        return CategoryColumn(name, values, fields.whole("count"))
    if kind not in ("number", "date"):
        raise fields.wrong("kind", f"must be number, category or date; got {kind!r:.80}")
    center, scale, least, greatest = (
        fields.number(each) for each in ("center", "scale", "least", "greatest")
    )
    if not (np.isfinite([center, scale, least, greatest]).all() and scale > 0 and least <= greatest):
        raise fields.wrong("scale", "must be above 0, and least at most greatest, all of them finite")
    if kind == "number":
        edges = tuple(map(float, fields.numbers("edges")))
        if not np.isfinite(edges).all() or any(np.diff(edges) <= 0):
            raise fields.wrong("edges", "must rise and be finite")
        return NumberColumn(name, float(center), float(scale), float(least), float(greatest), edges)
    years = fields.wholes("years")
    return DateColumn(
        name, float(center), float(scale), float(least), float(greatest), years, fields.flag("has_hours")
    )
