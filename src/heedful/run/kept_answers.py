"""The predictions on the test split, as a record stores them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from heedful.storage.fields import Fields
from heedful.tasks import find_task

Kind = Literal["classes", "right", "scores", "counts"]
"""Of answers: numbers of classes; 1 where the class is right and 0 elsewhere, without the gold labels; scores; counts
of arguments or of n-grams, whose sums a metric is made of."""
KINDS: tuple[Kind, ...] = get_args(Kind)
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Answers:
    """The predictions of a model on the test split.

    Attributes:
        kind: what the numbers are.
        gold: [N]; of "right" answers 1 everywhere.
        predicted: [N], or what the task counts of each example, [N] or [N, M].
    """

    kind: Kind
    gold: Array
    predicted: Array

    def without_gold(self) -> Answers | None:
        """Return what may be passed on without the gold labels of a data set; None if that is nothing."""
        if self.kind == "classes":
            right = (self.gold == self.predicted).astype(np.int64)
            return Answers("right", np.ones_like(right), right)
        return None if self.kind == "scores" else self

    @classmethod
    def of_fields(cls, fields: Fields) -> Answers:
        """Take plain values, as `as_dict` gives them.

        Args:
            fields: kind, predicted and, where it is kept, gold.

        Returns:
            The answers.

        Raises:
            ValueError: if the kind is unknown, or something is missing.
        """
        predicted = np.asarray(fields.items("predicted"))
        for kind in KINDS:
            if kind == fields.text("kind"):
                gold = np.ones_like(predicted) if kind == "right" else np.asarray(fields.items("gold"))
                return cls(kind, gold, predicted)
        raise fields.wrong("kind", f"is {fields.text('kind')!r}")

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; scores have four digits."""
        gold = {} if self.kind == "right" else {"gold": _plain(self.gold)}
        return {"kind": self.kind, **gold, "predicted": _plain(self.predicted)}


def kind_of_answers(task: str) -> Kind:
    """Return what the answers of a task are."""
    found = find_task(task)
    return found.kept if found else "classes"


def _plain(values: Array) -> list[object]:
    """Return numbers as JSON keeps them: whole ones as they are, scores to four digits."""
    plain: list[object] = (np.round(values, 4) if values.dtype.kind == "f" else values).tolist()
    return plain
