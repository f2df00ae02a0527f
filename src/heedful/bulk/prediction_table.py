"""Predictions as a table: typed columns, the same ones for Parquet files, Ray, Spark and `datasets`, and a file.

The file has the predictions beside everything that the input says of each example.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar

from heedful.data.examples import Corpus, Example
from heedful.model.answers import Answer, LabelsAnswer
from heedful.model.decisions import kind_of
from heedful.storage import replacing
from heedful.text.characters import json_line

if TYPE_CHECKING:
    from heedful.model.answers import AnyAnswer
    from heedful.model.model import Model

Kind = Literal["text", "number", "texts", "numbers"]


@dataclass(frozen=True)
class Column:
    """A column that a prediction adds to a row.

    Attributes:
        name: of the column.
        kind: a string, a number, a list of strings or a list of numbers.
        value: returns the value for an answer.
    """

    name: str
    kind: Kind
    value: Callable[[object], object]


OneKind = TypeVar("OneKind")
Answered = TypeVar("Answered", bound="AnyAnswer")


def _of(kind: type[OneKind], read: Callable[[OneKind], object]) -> Callable[[object], object]:
    """Return a function that reads something of the answers of one kind, and takes no others."""

    def value(answer: object) -> object:
        if not isinstance(answer, kind):
            raise TypeError(f"expected {kind.__name__}, got {type(answer).__name__}")
        return read(answer)

    return value


def _best(answer: Answer) -> float:
    return float(answer.confidence)


def _score(answer: Answer) -> float:
    assert answer.score is not None  # these tasks answer with a number
    return float(answer.score)


def _as_json(answer: object) -> str:
    assert hasattr(answer, "as_dict")  # every answer has
    return json_line(answer.as_dict())


def _of_labels(answer: LabelsAnswer) -> list[float]:
    return [float(answer.probabilities[name]) for name in answer.labels]


_CLASSES = (
    Column("prediction", "text", _of(Answer, lambda answer: answer.label)),
    Column("probability", "number", _of(Answer, _best)),
)
_LABELS = (
    Column("labels", "texts", _of(LabelsAnswer, lambda answer: list(answer.labels))),
    Column("probability", "numbers", _of(LabelsAnswer, _of_labels)),
)
_OF_ANSWERS: Mapping[type, tuple[Column, ...]] = {Answer: _CLASSES, LabelsAnswer: _LABELS}
_AS_JSON = (Column("prediction", "text", _as_json),)
WARNINGS = Column("warnings", "text", lambda answer: getattr(answer, "remarks", ""))
"""Unknown words, no words, a truncated text; and why a row has no prediction."""


_SET = Column("set", "texts", lambda answer: list(getattr(answer, "prediction_set", None) or ()))
_INTERVAL = Column("interval", "numbers", _of(Answer, lambda answer: list(answer.interval or ())))
_PARENTS = (
    Column("parents", "texts", _of(Answer, lambda answer: list(answer.parents or ()))),
    Column(
        "parent_probabilities", "numbers", _of(Answer, lambda answer: list((answer.parents or {}).values()))
    ),
)


def columns_of(task: str) -> tuple[Column, ...]:
    """Return the columns of a task's predictions.

    Args:
        task: ``model.task``.

    Returns:
        The columns, warnings last. A class has its probability; several labels have a list of theirs; a task whose
        predictions are no plain values, such as semantic roles, has one column of JSON.
    """
    kind = kind_of(task)
    if kind.is_score:
        return Column(kind.layout.header[0], "number", _of(Answer, _score)), WARNINGS
    return (*_OF_ANSWERS.get(kind.layout.kind, _AS_JSON), WARNINGS)


def whole_columns(model: Model[Any, Any]) -> tuple[Column, ...]:
    """Return the columns of a model's predictions: those of its task, then a set or an interval, and parents.

    Args:
        model: the model; what its answers have beside the task is what was asked of it.

    Returns:
        The columns.
    """
    promised = () if model.promise is None else (_INTERVAL if model.kind.is_score else _SET,)
    return (*columns_of(model.task), *promised, *(() if model.tree is None else _PARENTS))


def free_name(name: str, taken: Mapping[str, object] | set[str]) -> str:
    """Return a name that no column of the input has: the name itself, or with a number behind it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


SUFFIXES = {".csv": ",", ".tsv": "\t", ".jsonl": ""}
"""How the name of the file may end, and what separates its fields; JSON has none."""
PREDICTION = "prediction"
"""The key of a prediction in a line of JSON."""


class PredictionFile:
    """A table with one line for each row of a prediction; it is written whole or not at all.

    Args:
        path: the file, for its suffix.
        stream: what is written to.
        header: names of the columns of a prediction.
        with_header: whether CSV and TSV begin with the names of the columns.
    """

    def __init__(self, path: Path, stream: IO[bytes], header: Sequence[str], *, with_header: bool) -> None:
        self._separator, self._stream = SUFFIXES[path.suffix.lower()], stream
        self._header, self._with_header = header, with_header
        self._names: dict[str, None] = {}
        self._own: list[str] | None = None
        self.count = 0

    def expect(self, corpus: Corpus) -> None:
        """Note which columns the examples have; call it for all of them before the first is added.

        Args:
            corpus: examples.
        """
        for example in corpus.examples:
            self.expect_names(_carried(example))

    def expect_names(self, names: Iterable[str]) -> None:
        """Note the names of columns that the input has; call it before the first prediction is added."""
        self._names.update(dict.fromkeys(names))

    def add(
        self, corpus: Corpus, answers: Iterable[Answered], rows: Callable[[Answered], Iterable[Sequence[str]]]
    ) -> None:
        """Write predictions.

        Args:
            corpus: the examples.
            answers: the prediction for each of them, with ``as_dict`` for JSON.
            rows: lays a prediction out as rows of cells, for CSV and TSV.
        """
        if self._own is None:
            if not self._names:  # standard input can be read but once
                self.expect(corpus)
            self._begin()
        for example, answer in zip(corpus.examples, answers, strict=True):
            carried = _carried(example)
            self.count += 1
            if not self._separator:
                assert self._own is not None  # `_begin` has named them
                plain = {**carried, self._own[0]: answer.as_dict()}
                self._write(json.dumps(plain, ensure_ascii=False, default=str))
                continue
            kept = [_cell(carried.get(name)) for name in self._names]
            for row in rows(answer):
                self._write(self._line([*kept, *row]))

    def begin_if_empty(self) -> None:
        """Let a file without predictions have the names of its columns too."""
        if self._own is None:
            self._begin()

    def _begin(self) -> None:
        self._own = [
            free_name(name, self._names) for name in (self._header if self._separator else [PREDICTION])
        ]
        if self._separator and self._with_header:
            self._write(self._line([*self._names, *self._own]))

    def _line(self, cells: Sequence[str]) -> str:
        line = io.StringIO()
        csv.writer(line, delimiter=self._separator).writerow(
            cells
        )  # which quotes what is in its own line end
        return line.getvalue().removesuffix("\r\n")

    def _write(self, line: str) -> None:
        self._stream.write(line.encode("utf-8", "backslashreplace") + b"\n")


@contextmanager
def prediction_file(path: Path, header: Sequence[str], *, with_header: bool) -> Iterator[PredictionFile]:
    """Write a file of predictions; an old one stays until the new one is complete.

    Args:
        path: the file; its suffix says the format.
        header: names of the columns of a prediction.
        with_header: whether CSV and TSV begin with the names of the columns.

    Yields:
        What takes the predictions.

    Raises:
        OutputError: if it cannot be written; the old one then stays.
    """
    with replacing(path) as stream:
        yield PredictionFile(path, stream, header, with_header=with_header)


def _carried(example: Example) -> Mapping[str, object]:
    """Return what the input says of an example: all fields of its row, or its texts."""
    if example.fields is not None:
        return example.fields
    names = ("text",) if len(example.texts) == 1 else ("premise", "hypothesis")
    return dict(zip(names, example.texts, strict=True))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return (
        json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)
    )
