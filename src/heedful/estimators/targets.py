"""The targets ``y`` of a user: classes of any hashable type, or scores."""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import LabelSet
from heedful.data.readers.corpus_builder import loses_digits, number_of
from heedful.data.readers.doubtful_labels import doubts
from heedful.data.readers.text_fields import is_missing
from heedful.data.readers.written_labels import checked_name, no_gold, written_labels
from heedful.errors import ArtifactError, DataError, UsageError
from heedful.estimators.columns import rows_of, warn_of_column_vector

_LOG = logging.getLogger(__name__)
LabelType = Literal["str", "int", "float", "bool"]
_TYPES: dict[type, LabelType] = {str: "str", bool: "bool", int: "int", float: "float"}
_WRITTEN = {"False": False, "True": True}


@dataclass(frozen=True, eq=False)
class NamedChoice(ABC):
    """What a model chooses from as the user wrote it, with the names that the model uses.

    Attributes:
        values: the classes or labels, sorted where their type has an order, [Y].
        names: one for each; unique.
        label_type: their type, which the model folder stores so that a loaded model predicts that type. It is "str" for
            types other than text, numbers and truth values; a loaded model then predicts the names.
    """

    values: NDArray[np.generic]
    names: tuple[str, ...]
    label_type: LabelType = "str"

    @abstractmethod
    def read(self, y: object) -> Sequence[Any]:
        """Return the gold of each target; see the classes below."""


class ClassNames(NamedChoice):
    """The classes of a model."""

    @classmethod
    def of(cls, y: object) -> ClassNames:
        """Collect the classes of training targets.

        Args:
            y: one class a row, all of one type.

        Returns:
            The classes.

        Raises:
            DataError: naming the row, if a class is missing, not hashable, of another type than the first, or a number
                that is not whole; if two differ in white space around them alone, which files do not keep.
            UsageError: if two classes are written alike.
        """
        warn_of_column_vector(y)
        rows = _labels(y)
        _refuse_mixture(rows)
        check_names(rows)
        kind = type(rows[0]) if rows else str
        values = _sorted(set(rows))
        names = tuple(str(value) for value in values)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"y: two classes are both written {twice!r}; give them names as strings")
        dtype = getattr(y, "dtype", None)
        numeric = dtype if isinstance(dtype, np.dtype) and dtype.kind in "biuf" else None
        label_type = _TYPES.get(kind, "str")
        return cls(_array(values, numeric, plain=kind in _TYPES), names, label_type)

    @classmethod
    def restored(cls, names: Sequence[str], label_type: LabelType) -> ClassNames:
        """Read the classes that a model folder keeps.

        Args:
            names: of the classes, in the order of the model.
            label_type: what they were.

        Returns:
            The classes.

        Raises:
            ArtifactError: if a name is no value of that type.
        """
        try:
            values = [_value(name, label_type) for name in names]
        except (KeyError, ValueError) as error:
            raise ArtifactError(
                f"a class of the model is no {label_type}, as data.label_type says: {error}. Train the model again."
            ) from error
        return cls(_array(values, None, plain=True), tuple(names), label_type)

    def read(self, y: object) -> list[str]:
        """Return the name of each target; of one that is no class of the model, the way it is written.

        Args:
            y: one class a row, as in training, or its name.

        Returns:
            The names; what reads the examples refuses those that the model does not know.

        Raises:
            DataError: naming the row, if a class is missing or not hashable.
        """
        known: dict[Hashable, str] = dict(zip(self.values.tolist(), self.names, strict=True))
        return [known.get(label, str(label)) for label in _labels(y)]


class LabelSets(NamedChoice):
    """The labels of a model that gives a text several, or none; they are strings."""

    @classmethod
    def of(cls, y: object) -> LabelSets:
        """Collect the labels of training targets.

        Args:
            y: a list of labels a row, or an indicator matrix, whose columns are then called "0", "1" and so on, or as a
                table of pandas or polars calls them.

        Returns:
            The labels.

        Raises:
            DataError: naming the row, if a target is no list of strings.
        """
        columns = getattr(y, "columns", None)
        matrix = _matrix(y)
        if matrix is not None:
            names = tuple(map(str, range(matrix.shape[1]) if columns is None else columns))
            refuse_repeated(names)
        else:
            lists = _lists(y)
            names = tuple(sorted({name for labels in lists for name in labels}))
            check_names([name for labels in lists for name in labels])
        return cls(np.array(names), names)

    def read(self, y: object) -> list[LabelSet]:
        """Return the labels of each row.

        Args:
            y: as in training.

        Returns:
            One set a row.

        Raises:
            UsageError: if a matrix has another number of columns than there are labels.
            DataError: naming the row, if a target is no list of strings, or a matrix holds more than 0 and 1.
        """
        matrix = _matrix(_in_order(y, self.names))
        if matrix is None:
            return [LabelSet(tuple(dict.fromkeys(labels))) for labels in _lists(y)]
        if matrix.shape[1] != len(self.names):
            raise UsageError(
                f"y: expected an indicator matrix of {len(self.names)} columns, one a label, got {matrix.shape[1]}"
            )
        wrong = np.flatnonzero(~np.isin(matrix, (0, 1)).all(axis=1))
        if len(wrong):
            row = matrix[wrong[0]].tolist()
            raise DataError(f"target {wrong[0] + 1}: expected 0 or 1 for each label, got {row!r:.80}")
        return [LabelSet(tuple(self.names[k] for k in np.flatnonzero(row))) for row in matrix]

    def matrix(self, y: object) -> NDArray[np.int64]:
        """Return the labels of each row as an indicator matrix, [N, Y]; see `read`."""
        return np.array([[name in row.names for name in self.names] for row in self.read(y)], np.int64)


def _in_order(y: Any, names: tuple[str, ...]) -> object:
    """Return a table of indicators with its columns in the order of the labels, where its columns are called so."""
    columns: Any = getattr(y, "columns", None)
    given = [] if columns is None or isinstance(columns, str) else [str(each) for each in columns]
    if given == list(names) or set(given) != set(names):
        return y
    return y[[columns[given.index(name)] for name in names]]


def _matrix(y: object) -> NDArray[np.generic] | None:
    """Return an indicator matrix; None for lists of labels."""
    values = _plain_numbers(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if hasattr(values, "toarray"):  # a sparse matrix of SciPy
        values = values.toarray()
    if not isinstance(values, np.ndarray):
        rows = list(values) if isinstance(values, Iterable) else []
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
        numeric = rows and all(
            isinstance(row, list | tuple) and row and all(isinstance(v, int | float) for v in row)
            for row in rows
        )
        if not numeric or len({len(row) for row in rows}) > 1:
            return None
        values = np.array(rows)
    return values if values.ndim == 2 and values.dtype.kind in "biuf" else None


def _plain_numbers(values: Any) -> Any:
    """Return an array of objects that are all numbers, as nullable columns of pandas give them, as one of numbers."""
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype != object:
        return values
    for row, cells in enumerate(values.tolist(), start=1):
        if any(type(cell).__name__ in ("NAType", "NoneType") for cell in cells):
            raise DataError(
                f"target {row}: a value is missing; write 0 or 1 in every column, or drop the row"
            )
        if not all(isinstance(cell, bool | int | float) for cell in cells):
            return values
    return values.astype(np.float64)


def _lists(y: object) -> list[list[str]]:
    found, rows = [], rows_of(y, name="y")
    for row, labels in enumerate(rows, start=1):
        if not isinstance(labels, list | tuple | set | frozenset) or not all(
            isinstance(n, str) for n in labels
        ):
            width = next((len(each) for each in rows if isinstance(each, list | tuple) and each), 0)
            numbers = isinstance(labels, list | tuple) and all(isinstance(n, int | float) for n in labels)
            if numbers and width:
                row = next((k for k, each in enumerate(rows, start=1) if _width(each) != width), row)
                raise DataError(
                    f"target {row}: expected an indicator matrix with {width} columns in every row, as in the first; "
                    f"got {rows[row - 1]!r:.80}"
                )
            raise DataError(f"target {row}: expected a list of labels, got {labels!r:.80}")
        found.append([str(name) for name in labels])
    return found


def _width(row: object) -> int:
    return len(row) if isinstance(row, Sized) else 0


@dataclass(frozen=True)
class Scores:
    """Scores, which have no names and are used unchanged.

    Attributes:
        names: none.
        label_type: not used for scores.
    """

    names: tuple[str, ...] = ()
    label_type: LabelType = "str"

    def read(self, y: object) -> list[float]:
        """Return the targets as numbers.

        Args:
            y: one number a row.

        Returns:
            The numbers.

        Raises:
            DataError: naming the row, if one is missing or no number.
        """
        rows = rows_of(y, name="y")
        numbers = [_score(row, value) for row, value in enumerate(rows, start=1)]
        long = sum(loses_digits(value, number) for value, number in zip(rows, numbers, strict=True))
        if long:
            _LOG.warning("y: %d numbers have more digits than double precision keeps, and are rounded", long)
        return numbers


AnyTargets = NamedChoice | Scores


def _score(row: int, value: object) -> float:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, Decimal) and plain.is_finite():
        plain = float(plain)
    if isinstance(plain, int | float) and math.isfinite(number := number_of(plain)):
        return number
    raise DataError(f"target {row}: expected a number, got {plain!r:.60}")


def _labels(y: object) -> list[Hashable]:
    return [_label(row, value) for row, value in enumerate(rows_of(y, name="y"), start=1)]


def _label(row: int, value: object) -> Hashable:
    plain = value.item() if isinstance(value, np.bool_ | np.number | np.str_) else value
    if is_missing(plain):
        raise DataError(f"target {row}: the class is missing ({plain!r}); drop the row")
    if not _is_hashable(plain) or isinstance(plain, frozenset):
        raise DataError(
            f"target {row}: expected one class, got {plain!r:.60}; for several labels a text use MultiLabelClassifier"
        )
    if isinstance(plain, float) and not plain.is_integer():
        raise DataError(
            f"target {row}: expected a class, got {plain!r}, which is no whole number; to predict continuous numbers "
            "use TextScorer (for pairs PairScorer)"
        )
    return plain


def _is_hashable(value: object) -> TypeGuard[Hashable]:
    """Return whether a value has a hash; a row of a record array, or a tuple that holds a list, has the type alone."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def refuse_repeated(columns: Sequence[str]) -> None:
    """Refuse a table of targets in which two columns have one name, of which one would be lost."""
    for name, count in Counter(columns).items():
        if count > 1:
            raise UsageError(f"y: {count} columns are called {name!r:.60}; give each a name of its own")


def check_names(rows: Sequence[object], *, of_words: bool = False) -> None:
    """Refuse names that a file would not keep apart or not hold, and warn of those that say that there is no class."""
    first: dict[str, int] = {}
    for row, name in enumerate(rows, start=1):
        if isinstance(name, str):
            first.setdefault(name, row)
    bare: dict[str, str] = {}
    for name, row in first.items():
        checked_name(name, f"target {row}")
        if name[:1] in "[({" and written_labels(name, f"target {row}") is not None:
            raise DataError(
                f"target {row}: {name!r:.60} is a list that is written as text, as a CSV file holds it; read it with "
                "ast.literal_eval, and use MultiLabelClassifier for several labels a text"
            )
        if (other := bare.setdefault(name.strip(), name)) != name:
            raise DataError(
                f"target {row}: {name!r:.60} and {other!r:.60} differ in white space alone; strip both"
            )
    for name in no_gold(first):
        _LOG.warning(
            "y: %d targets are %r, which says that an example has no class; drop these rows if it does here too",
            sum(each == name for each in rows),
            name,
        )
    given = Counter(str(each) for each in rows if type(each) in (str, int))
    given = Counter({name: count for name, count in given.items() if name not in no_gold(first)})
    for note in doubts(given, of_words=of_words):
        _LOG.warning("y: %s", note)


def _refuse_mixture(rows: Sequence[Hashable]) -> None:
    first: dict[type, int] = {}
    for row, label in enumerate(rows, start=1):
        first.setdefault(type(label), row)
    if len(first) > 1:
        found = ", ".join(
            f"{kind.__name__} (first {rows[row - 1]!r:.40}, target {row})" for kind, row in first.items()
        )
        raise DataError(f"y: classes of mixed types: {found}; write all of them as one type")


def _sorted(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # no order
        return sorted(labels, key=str)


def _array(
    values: Sequence[object], dtype: np.dtype[np.generic] | None, *, plain: bool
) -> NDArray[np.generic]:
    if plain:
        return np.array(values, dtype=dtype)
    return np.fromiter(values, object, len(values))  # np.array would take a tuple for a row


def _value(name: str, label_type: LabelType) -> object:
    if label_type == "str":
        return name
    if label_type == "bool":
        return _WRITTEN[name]
    return int(name) if label_type == "int" else float(name)
