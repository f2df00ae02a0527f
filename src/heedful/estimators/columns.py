"""Turn columns of texts and targets (lists, NumPy, pandas, polars) into plain lists."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, KeysView, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from heedful.errors import UsageError


def rows_of(column: object, *, pair: bool = False, name: str = "X") -> list[object]:
    """Return the rows of a column of any supported library.

    Args:
        column: a list, a NumPy array, or a column or table of pandas or polars. A table of one column is read as that
            column.
        pair: whether a row holds two texts, so that a table must have two columns: "premise" and "hypothesis" in any
            order, or else the first text and the second.
        name: name of the argument, for messages.

    Returns:
        One value for each row: the text, or for a table of two columns a list of two texts. Missing values of pandas
        become None.

    Raises:
        UsageError: if it is None, a single string, a mapping, a set, which has no order, complex numbers, or a table
            with a wrong number of columns, or with columns whose names say that they stand in the other order, such as
            "text2" before "text1".
    """
    if column is None and name == "y":
        raise UsageError("this estimator requires y to be passed, but the target y is None")
    if pair:
        column = _by_name(column, name)
    values = _values_of(column, name)
    if isinstance(column, Set) and not isinstance(column, KeysView) and name != "classes":
        raise UsageError(f"{name}: is a set, whose items have no order; expected a list with one item a row")
    if isinstance(column, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"{name}: expected a list or a column with one item a row, got {column!r:.60}")
    if isinstance(values, np.ndarray):
        values = _flat(values, pair=pair, name=name)
    return [_plain(value) for value in values]


def warn_of_column_vector(y: Any) -> None:
    """Warn as scikit-learn does where targets are a table of one column, which is read as that column."""
    shape = list(getattr(y, "shape", ()))
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )


def _values_of(column: Any, name: str) -> object:
    """Return what a library's column holds as an array or a list; missing values of masked arrays become None."""
    if hasattr(column, "toarray"):
        raise UsageError(f"{name}: is a sparse matrix, and a column is expected; pass {name}.toarray()")
    if isinstance(column, np.ma.MaskedArray):
        values = column.data.astype(object)
        values[np.ma.getmaskarray(column)] = None
        return values
    if hasattr(column, "to_pylist") and not hasattr(column, "columns"):  # of pyarrow
        return column.to_pylist()
    if hasattr(column, "detach") and hasattr(column, "numpy"):  # of torch
        try:
            found = column.detach().cpu().to_dense()
            return (
                found.float() if found.is_floating_point() and found.dtype.itemsize < 4 else found
            ).numpy()
        except (RuntimeError, TypeError):  # nested, quantized, or without values
            kind = f"{type(column).__name__} of {column.dtype} on {column.device}"
            raise UsageError(f"{name}: this {kind} has no values that NumPy reads; pass an array") from None
    if hasattr(column, "to_numpy"):
        return column.to_numpy()
    if isinstance(column, Iterable) or not hasattr(column, "__array__"):
        return column
    return np.asarray(column)  # of any other library that follows NumPy's protocol


def _by_name(table: Any, name: str) -> object:
    """Return a table of pairs with its columns in the order of premise and hypothesis, where it names them."""
    names = getattr(table, "columns", None)
    if names is None or isinstance(names, str) or len(names) < 2:
        return table
    given = [str(each) for each in names]
    if {"premise", "hypothesis"} <= set(given):
        return table[["premise", "hypothesis"]]
    if len(given) == 2 and _counts_down(*(each.lower() for each in given)):
        raise UsageError(
            f"{name}: the columns {given[0]!r} and {given[1]!r} would be read as first and second text; choose them in "
            f"the order that you mean, as in table[[{given[1]!r}, {given[0]!r}]], or call them premise and hypothesis"
        )
    return table


def _counts_down(first: str, second: str) -> bool:
    """Return whether two names differ in one sign, which is the second's successor: 2 and 1, b and a."""
    other = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    return len(first) == len(second) and len(other) == 1 and other[0] in {("2", "1"), ("1", "0"), ("b", "a")}


def _flat(values: NDArray[np.generic], *, pair: bool, name: str) -> NDArray[np.generic]:
    """Return a table as its one column, or as rows of two."""
    if values.dtype.kind == "c":
        raise UsageError(f"{name}: Complex data not supported; got an array of {values.dtype}")
    if values.ndim == 1 or (values.ndim == 2 and pair and values.shape[1] == 2):
        return values
    if values.ndim == 2 and not pair and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim == 2 and not values.shape[1]:
        raise UsageError(
            f"{name}: the table has 0 feature(s) (shape={values.shape}) while a minimum of {1 + pair} is required."
        )
    wanted = "two columns, or one of pairs" if pair else "one column"
    raise UsageError(f"{name}: expected {wanted}, got an array of shape {values.shape}; choose columns")


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if type(value).__name__ in ("NAType", "NaTType"):  # what pandas writes for a missing value
        return None
    return value
