"""Predictions as typed columns of a table, the same ones for Parquet files, Ray, Spark and `datasets`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from heedful.runtime.answers import Answer, LabelsAnswer
from heedful.text.characters import json_line

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


Answered = TypeVar("Answered")


def _of(kind: type[Answered], read: Callable[[Answered], object]) -> Callable[[object], object]:
    """Return a function that reads something of the answers of one kind, and takes no others."""

    def value(answer: object) -> object:
        if not isinstance(answer, kind):
            raise TypeError(f"expected {kind.__name__}, got {type(answer).__name__}")
        return read(answer)

    return value


def _best(answer: Answer) -> float:
    return float(answer.probabilities[str(answer.label)])


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
_NUMBERS = (Column("number", "number", _of(Answer, _score)),)
_OF_TASKS: Mapping[str, tuple[Column, ...]] = {
    "text": _CLASSES,
    "pair": _CLASSES,
    "relatedness": (Column("score", "number", _of(Answer, _score)),),
    "number": _NUMBERS,
    "pair-number": _NUMBERS,
    "labels": (
        Column("labels", "texts", _of(LabelsAnswer, lambda answer: list(answer.labels))),
        Column("probability", "numbers", _of(LabelsAnswer, _of_labels)),
    ),
}
_AS_JSON = (Column("prediction", "text", _as_json),)
WARNINGS = Column("warnings", "text", lambda answer: getattr(answer, "remarks", ""))
"""Unknown words, no words, a truncated text; and why a row has no prediction."""


def columns_of(task: str) -> tuple[Column, ...]:
    """Return the columns of a task's predictions.

    Args:
        task: ``model.task``.

    Returns:
        The columns, warnings last. A class has its probability; several labels have a list of theirs; a task whose
        predictions are no plain values, such as semantic roles, has one column of JSON.
    """
    return (*_OF_TASKS.get(task, _AS_JSON), WARNINGS)


def free_name(name: str, taken: Mapping[str, object] | set[str]) -> str:
    """Return a name that no column of the input has: the name itself, or with a number behind it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
