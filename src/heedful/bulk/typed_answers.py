"""Predictions as typed columns of a table, the same ones for Parquet files, Ray, Spark and `datasets`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from heedful.text.characters import json_line

if TYPE_CHECKING:
    from heedful.runtime.answers import LabelsAnswer

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
    value: Callable[[Any], object]


def _best(answer: Any) -> float:
    return float(answer.probabilities[answer.label])


def _of_labels(answer: LabelsAnswer) -> list[float]:
    return [float(answer.probabilities[name]) for name in answer.labels]


_CLASSES = (Column("prediction", "text", lambda answer: answer.label), Column("probability", "number", _best))
_NUMBERS = (Column("number", "number", lambda answer: float(answer.score)),)
_OF_TASKS: Mapping[str, tuple[Column, ...]] = {
    "text": _CLASSES,
    "pair": _CLASSES,
    "relatedness": (Column("score", "number", lambda answer: float(answer.score)),),
    "number": _NUMBERS,
    "pair-number": _NUMBERS,
    "labels": (
        Column("labels", "texts", lambda answer: list(answer.labels)),
        Column("probability", "numbers", _of_labels),
    ),
}
_AS_JSON = (Column("prediction", "text", lambda answer: json_line(answer.as_dict())),)
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
