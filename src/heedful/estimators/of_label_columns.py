"""The estimator of several label columns, and how it reads its targets."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from heedful.data.examples import LabelSet
from heedful.data.readers.text_fields import is_missing
from heedful.errors import DataError, UsageError, nearest
from heedful.estimators.example_weights import example_weights
from heedful.estimators.sentence_estimator import SentenceEstimator
from heedful.estimators.targets import AnyTargets, ClassNames, NamedChoice, refuse_repeated
from heedful.model.decisions.label_columns import BETWEEN, column_places, label_of
from heedful.run.run_config import DistilConfig, RunConfig
from heedful.tasks import LabelColumnsModel

if TYPE_CHECKING:
    from sklearn.utils import Tags


@dataclass(frozen=True, eq=False)
class LabelColumns(NamedChoice):
    """The classes of several label columns.

    Attributes:
        columns: the names of the columns.
        value_of: what each name of the model stands for, as the user wrote it.
    """

    columns: tuple[str, ...] = ()
    value_of: Mapping[str, Hashable] = field(default_factory=dict)

    @classmethod
    def of(cls, y: object) -> LabelColumns:
        """Collect the classes of training targets.

        Args:
            y: a table of pandas or polars, a list of mappings of column to class, or rows of classes, whose columns are
                then called "0", "1" and so on. A missing class (None, NaN) is not learned from.

        Returns:
            The classes.

        Raises:
            DataError: naming the row, if a row is of another form, or a class is no text and no number.
            UsageError: if there are fewer than two columns, or the name of one holds ``": "``.
        """
        columns, rows = _table(y)
        if len(columns) < 2:
            raise UsageError(f"y: expected two label columns or more, got {len(columns)}; use TextClassifier")
        for column in columns:
            if BETWEEN in column:
                raise UsageError(
                    f"y: the name of label column {column!r} must not hold {BETWEEN!r}; rename it"
                )
        names, value_of, kinds = list[str](), dict[str, Hashable](), set[str]()
        for place, column in enumerate(columns):
            own = [row[place] for row in rows if not is_missing(row[place])]
            if not own and rows:
                raise DataError(f"label column {column!r}: holds no class; leave this column out")
            try:
                found = ClassNames.of(own)
            except DataError as error:
                raise DataError(f"label column {column!r}: {error}") from None
            for name, value in zip(found.names, found.values.tolist(), strict=True):
                names.append(label_of(column, name))
                value_of[names[-1]] = value
            kinds.add(found.label_type)
        kind = kinds.pop() if len(kinds) == 1 else "str"
        return cls(np.array(names), tuple(names), kind, columns, value_of)  # type: ignore[arg-type]

    @classmethod
    def restored(cls, names: Sequence[str], label_type: str) -> LabelColumns:
        """Read the classes that a model folder keeps.

        Args:
            names: of the classes, in the order of the model.
            label_type: what they were; "str" where the columns had several types.

        Returns:
            The classes.

        Raises:
            ArtifactError: if a name is no value of that type.
        """
        bare = [name.partition(BETWEEN)[2] for name in names]
        values = ClassNames.restored(bare, label_type).values.tolist()  # type: ignore[arg-type]
        value_of = dict(zip(names, values, strict=True))
        return cls(np.array(names), tuple(names), label_type, tuple(column_places(names)), value_of)  # type: ignore[arg-type]

    def read(self, y: object) -> list[LabelSet | None]:
        """Return the classes of each row; None for a row without any.

        Args:
            y: as in training; columns that a table names may stand in any order.

        Returns:
            One set a row.

        Raises:
            UsageError: if the columns are others.
            DataError: see `of`.
        """
        columns, rows = _table(y)
        if set(columns) != set(self.columns):
            hint = nearest(columns[0], list(self.columns)) if columns else ""
            raise UsageError(f"y: expected the label columns {self.columns}, got {columns}; {hint}")
        found = []
        for row in rows:
            names = [
                label_of(column, str(value).strip())
                for column, value in zip(columns, row, strict=True)
                if not is_missing(value)
            ]
            found.append(LabelSet(tuple(names)) if names else None)
        return found


def _table(y: object) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Return the names of the columns and the rows of targets."""
    if y is None:
        raise UsageError("this estimator requires y to be passed, but the target y is None")
    named = getattr(y, "columns", None)
    values: Any = y.to_numpy() if hasattr(y, "to_numpy") else y
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"y: expected a table, or a list with a row of classes for each text; got {y!r:.60}")
    rows: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if named is None and rows and all(isinstance(row, Mapping) for row in rows):
        columns = tuple(dict.fromkeys(str(name) for row in rows for name in row))
        return columns, [[_plain(row.get(column)) for column in columns] for row in rows]
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    width = len(named) if named is not None else next((len(row) for row in rows if _is_row(row)), 0)
    for place, row in enumerate(rows, start=1):
        if not _is_row(row) or len(row) != width:
            raise DataError(f"target {place}: expected a row of {width or 2} classes, got {row!r:.60}")
    columns = tuple(map(str, range(width) if named is None else named))
    refuse_repeated(columns)
    return columns, [[_plain(value) for value in row] for row in rows]


def _is_row(row: object) -> bool:
    return isinstance(row, list | tuple)


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain


class LabelColumnsClassifier(ClassifierMixin, SentenceEstimator[LabelColumnsModel]):
    """Give texts a class of each of several label columns, with one encoder; see `Estimator` for the arguments.

    ``y`` is a table with a column for each, or rows of classes. A missing class is not learned from.

    Attributes:
        columns_: the names of the label columns. Set by `fit` and `from_pretrained`.
        classes_: for each column its classes, sorted.
    """

    task, tasks, metric = "label-columns", ("label-columns",), "micro_f1"
    model_type = LabelColumnsModel
    columns_: tuple[str, ...]
    classes_: list[NDArray[Any]]
    _columns: LabelColumns
    _places: dict[str, NDArray[np.int64]]

    @classmethod
    def _defaults(cls) -> RunConfig:
        return replace(super()._defaults(), distil=DistilConfig())  # no teacher answers columns

    def _targets_of(self, y: object) -> LabelColumns:
        return LabelColumns.of(y)

    @classmethod
    def _targets_in(cls, predictor: LabelColumnsModel, config: RunConfig) -> LabelColumns:
        return LabelColumns.restored(predictor.labels, config.data.label_type)

    def _set_fitted(self, predictor: LabelColumnsModel, targets: AnyTargets) -> None:
        super()._set_fitted(predictor, targets)
        assert isinstance(targets, LabelColumns)  # what the two methods above return
        self._columns, self.columns_ = targets, targets.columns
        self._places = column_places(targets.names)
        self.classes_ = [
            np.array([targets.value_of[targets.names[place]] for place in own])
            for own in self._places.values()
        ]

    def predict_proba(self, X: object) -> list[NDArray[np.float64]]:
        """Return for each column the probabilities of its classes, [N, Y] each, as scikit-learn does."""
        predictor = self.predictor
        shares = predictor.probabilities(predictor.logits(self._requests(X)))
        return [shares[:, own] for own in self._places.values()]

    def predict(self, X: object) -> NDArray[Any]:
        """Return the class of each column, [N, C], in the type of the training targets."""
        predictor = self.predictor
        rows = predictor.logits(self._requests(X))
        found: NDArray[Any] = np.empty((len(rows), len(self.columns_)), np.object_)
        for place, (own, classes) in enumerate(zip(self._places.values(), self.classes_, strict=True)):
            found[:, place] = classes[rows[:, own].argmax(axis=1)].tolist()
        return found

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of texts whose columns are all right, of those that have a class.

        Args:
            X: texts.
            y: their classes.
            sample_weight: weight of each example, [N]; None for equal weights.

        Returns:
            The subset accuracy.
        """
        gold = self._columns.read(y)
        answered = [set(answer.labels) for answer in self.answer(X)]  # type: ignore[attr-defined]
        right = [own is None or answered[k].issuperset(own.names) for k, own in enumerate(gold)]
        return float(np.average(right, weights=example_weights(sample_weight, len(gold))))

    def __sklearn_tags__(self) -> Tags:
        """Declare to scikit-learn that y has several columns."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output, tags.target_tags.single_output = True, False
        return tags
