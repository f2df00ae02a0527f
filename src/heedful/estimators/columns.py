"""Turn columns of texts and targets (lists, NumPy, pandas, polars) into plain lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError


def rows_of(column: object, *, pair: bool = False, name: str = "X") -> list[object]:
    """Return the rows of a column of any supported library.

    Args:
        column: a list, a NumPy array, or a column or table of pandas or polars. A table of one column is read as that
            column.
        pair: whether a row holds two texts, so that a table must have two columns.
        name: name of the argument, for messages.

    Returns:
        One value for each row: the text, or for a table of two columns a list of two texts. Missing values of pandas
        become None.

    Raises:
        UsageError: if it is a single string, a mapping, or a table with a wrong number of columns.
    """
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if isinstance(column, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"{name}: expected a list or a column with one item a row, got {column!r:.60}")
    if isinstance(values, np.ndarray):
        values = _flat(values, pair=pair, name=name)
    return [_plain(value) for value in values]


def _flat(values: NDArray[np.generic], *, pair: bool, name: str) -> NDArray[np.generic]:
    """Return a table as its one column, or as rows of two."""
    if values.ndim == 1 or (values.ndim == 2 and pair and values.shape[1] == 2):
        return values
    if values.ndim == 2 and not pair and values.shape[1] == 1:
        return values[:, 0]
    wanted = "two columns, or one of pairs" if pair else "one column"
    raise UsageError(f"{name}: expected {wanted}, got an array of shape {values.shape}; choose columns")


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if type(value).__name__ in ("NAType", "NaTType"):  # what pandas writes for a missing value
        return None
    return value
