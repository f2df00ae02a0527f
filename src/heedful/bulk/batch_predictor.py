"""One callable for the engines that run a function over batches: Ray Data, Spark and `datasets`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heedful.bulk.batch_answers import Bad, BatchAnswers, ModelOptions, Truncate
from heedful.bulk.part_task import arrow_type, layout_of
from heedful.bulk.prediction_table import WARNINGS, Column, free_name
from heedful.data.readers.reading import FileReading
from heedful.data.readers.table_files import no_column
from heedful.errors import DataError, UsageError
from heedful.features.cells import missing_column
from heedful.model.decisions import Wish
from heedful.model.decisions.conformal import Method
from heedful.storage.manifest import manifest_checksum
from heedful.storage.named_models import find_model

if TYPE_CHECKING:
    from pyarrow import Table

_DDL = {"text": "string", "number": "double", "texts": "array<string>", "numbers": "array<double>"}
BadRows = Literal["stop", "null"]


class BatchPredictor:
    """Adds predictions to batches of rows; the same rows come back in the same order, none lost and none doubled.

    An instance is called with a batch and returns a batch of the same kind: a pandas.DataFrame, a pyarrow.Table, or a
    mapping from column names to lists or NumPy arrays. A single row (a mapping from column names to values) is answered
    too, and an iterator of batches gives an iterator. That is what these engines ask for::

        ray_dataset.map_batches(heedful.BatchPredictor, fn_constructor_args=("runs/trec",))
        spark_frame.mapInPandas(predictor, f"id long, text string, {predictor.spark_schema}")
        dataset.map(heedful.BatchPredictor("runs/trec"), batched=True)

    The model is read at the first batch, and again in every process that gets a copy. A copy carries the model's
    checksum and the path of its folder: the folder must be there on every machine, and another model in it is refused.

    Args:
        model: a model folder, the run folder that holds it, or the name of a model.
        text: column of the texts; None for that of the training file, or "text".
        premise: column of the first texts of pairs; likewise.
        hypothesis: column of the second texts; likewise.
        max_tokens: longest text, in tokens; None for what the model was trained with.
        truncate: what a longer text does, "error" or "head"; None for what the model was trained with.
        bad_rows: what a row does of which a text is missing, no text or too long: "stop" raises an error, "null" leaves
            its prediction empty and gives the reason in the column "warnings".
        coverage: how often a set of labels, or an interval, is to hold what is right (docs/limits.md); None adds none.
        sets: of classes how sets are made, "lac", "aps" or "raps".
        by_class: of classes whether the promise is to hold for each class.
        tree: what separates the levels of classes that are paths, such as "/"; adds the parents. None adds none.
        at_least: the probability at which an answer in a tree stops; None for the class itself.

    Raises:
        ArtifactError: if there is no model, or, at the first batch, if it is damaged.
        UsageError: if ``bad_rows`` is unknown, a coverage is out of range, or, at the first batch, if the model has no
            such sets or tree.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        text: str | None = None,
        premise: str | None = None,
        hypothesis: str | None = None,
        max_tokens: int | None = None,
        truncate: Truncate | None = None,
        bad_rows: BadRows = "stop",
        coverage: float | None = None,
        sets: Method = "lac",
        by_class: bool = False,
        tree: str | None = None,
        at_least: float | None = None,
    ) -> None:
        if bad_rows not in ("stop", "null"):
            raise UsageError(f"bad_rows: expected 'stop' or 'null', got {bad_rows!r}")
        checksum = manifest_checksum(find_model(model))
        named = {"text": text, "premise": premise, "hypothesis": hypothesis}
        wish = None if coverage is None else Wish(coverage, sets, by_class)
        self._asking = ModelOptions(
            str(model), max_tokens, truncate, checksum=checksum, wish=wish, tree=tree, at_least=at_least
        )
        self._named = {role: name for role, name in named.items() if name is not None}
        self._bad_rows = bad_rows
        self._answers: BatchAnswers | None = None

    def __getstate__(self) -> dict[str, object]:
        """Return what a copy needs; it reads the model itself."""
        return {**self.__dict__, "_answers": None}

    @property
    def answers(self) -> BatchAnswers:
        """The model, read when it is first needed."""
        if self._answers is None:
            self._answers = BatchAnswers(self._asking)
            if other := [role for role in self._named if role not in self._answers.roles]:
                raise UsageError(f"{other[0]}: this model reads {' and '.join(self._answers.roles)}")
        return self._answers

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are added; one whose name a batch has already gets a number behind it."""
        return self.answers.columns

    @property
    def spark_schema(self) -> str:
        """The added columns as Spark writes a schema, for example "prediction string, probability double"."""
        return ", ".join(f"{column.name} {_DDL[column.kind]}" for column in self.columns)

    def __call__(self, batch: object) -> object:
        """Add predictions to a batch, or to each batch of an iterator.

        Args:
            batch: see the class.

        Returns:
            The batch with the added columns, of the same kind.

        Raises:
            DataError: if a column is missing, or ``bad_rows`` is "stop" and a row is bad; names the row of the batch.
            UsageError: if the batch is of no known kind.
        """
        if isinstance(batch, Iterator):
            return map(self, batch)
        if hasattr(batch, "column_names") and hasattr(batch, "append_column"):
            return self._to_arrow(batch)
        if isinstance(batch, _Frame):
            added = self._added(list(batch.columns), batch.__getitem__)
            return batch.assign(**{name: _array(column, found) for name, (column, found) in added.items()})
        if not isinstance(batch, Mapping):
            raise UsageError(
                "expected a pandas.DataFrame, a pyarrow.Table or a mapping from names of columns to values, got "
                f"{type(batch).__name__}"
            )
        return self._to_mapping(batch)

    def _to_arrow(self, table: Table) -> Table:
        import pyarrow

        added = self._added(table.column_names, {n: table[n] for n in table.column_names}.__getitem__)
        for name, (column, found) in added.items():
            kind = arrow_type(pyarrow, column)
            table = table.append_column(pyarrow.field(name, kind), pyarrow.array(found, type=kind))
        return table

    def _to_mapping(self, batch: Mapping[str, object]) -> dict[str, object]:
        names = layout_of(self.answers, FileReading(self._named)).names
        is_row = isinstance(batch.get(names[0]), str | None)
        added = self._added(list(batch), (lambda name: [batch[name]]) if is_row else batch.__getitem__)
        of_numpy = any(isinstance(batch[name], np.ndarray) for name in names)
        new: dict[str, object] = {}
        for name, (column, found) in added.items():
            new[name] = found[0] if is_row else _array(column, found) if of_numpy else found
        return {**batch, **new}

    def _added(
        self, present: Sequence[str], values: Callable[[str], object]
    ) -> dict[str, tuple[Column, list[object]]]:
        """Return the added columns by their names, each with its values."""
        answers, names = self.answers, layout_of(self.answers, FileReading(self._named)).names
        for role, name in zip(answers.roles, names, strict=True):
            if name not in present:
                raise DataError(f"the batch: {no_column(name, present, f'{role}=NAME')}")
        for name in answers.beside:
            if name not in present:
                raise DataError(f"the batch: {missing_column(name, present)}")
        read = (_listed(values(name)) for name in (*names, *answers.beside))
        found = answers.answers(list(zip(*read, strict=True)))
        if self._bad_rows == "stop":
            for number, answer in enumerate(found, start=1):
                if isinstance(answer, Bad):
                    raise DataError(
                        f"row {number} of the batch: {answer.reason}. Correct it, or choose bad_rows='null'"
                    )
        return {
            free_name(column.name, set(present)): (column, [_value(column, answer) for answer in found])
            for column in answers.columns
        }


@runtime_checkable
class _Frame(Protocol):
    """What a pandas.DataFrame has."""

    @property
    def columns(self) -> Iterable[str]: ...

    def __getitem__(self, name: str) -> object: ...

    def assign(self, **columns: NDArray[np.generic]) -> object: ...


def _listed(values: object) -> list[object]:
    """Return the values of a column as plain values, be it a list, an array, a pandas.Series or an Arrow column."""
    to_list = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
    if to_list is not None:
        return to_list()
    if not isinstance(values, Iterable):
        raise UsageError(f"expected a column of values, got {type(values).__name__}")
    return list(values)


def _value(column: Column, answer: object) -> object:
    if not isinstance(answer, Bad):
        return column.value(answer)
    return answer.reason if column is WARNINGS else None


def _array(column: Column, values: Sequence[object]) -> NDArray[np.generic]:
    """Return values as an array: numbers as float64, not a number for none; all else as objects."""
    if column.kind == "number":
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
