"""What wrong classes cost: as settings, as a matrix, and as figures of the answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError, check_known
from heedful.evaluation import Report, classification_metrics
from heedful.settings import ranged
from heedful.storage.fields import Fields, is_number, is_table
from heedful.tasks.sentences.limit_options import LimitOptions
from heedful.training.run_state import MEAN_COST


def _stated(costs: Mapping[str, object]) -> str:
    rows = [list(row.values()) if isinstance(row, Mapping) else [row] for row in costs.values()]
    good = all(
        is_number(cost) and 0 <= cost < math.inf and not math.isnan(cost) for row in rows for cost in row
    )
    return "" if good else "must give every class a number of 0 or more, or a table of such numbers"


def _below_one(value: object) -> str:
    good = is_number(value) and 0 <= value < 1
    return "" if good else "must be the share of known texts to keep, such as 0.95, or 0 to answer always"


DEFAULT_KEEP = 0.95
"""The share of known texts that keep their class, where texts of no class are given and no share."""


@dataclass(frozen=True)
class ClassOptions(LimitOptions):
    """Settings of the task itself, ``[model.task_options]``.

    Attributes:
        costs: table of gold class to the cost of a wrong prediction: one number for every wrong class, or a table of
            predicted class to number. Costs that are not given are 1. With costs, the model predicts the class with the
            lowest expected cost under its calibrated probabilities; without costs it predicts the most probable class.
        reject: share of known texts that keep their class, such as 0.95; a text that is more unlike the training texts
            is answered with ``reject_label`` (docs/limits.md). 0 always answers a class.
        reject_label: what is answered to a text that fits no class.
        none_of_these: file of texts that belong to no class, which weigh the signs of such a text; with it ``reject``
            is 0.95 unless it is set. Without it, rows count as such texts as if their class did not exist.
    """

    costs: dict[str, object] = field(default_factory=dict, metadata={"check": _stated})
    reject: float = ranged(0.0, _below_one)
    reject_label: str = "none of these"
    none_of_these: str = ""

    @property
    def keep(self) -> float:
        """The share of known texts that keep their class; 0 where every text has one."""
        return self.reject or (DEFAULT_KEEP if self.none_of_these else 0.0)


def cost_matrix(costs: Mapping[str, object], labels: Sequence[str]) -> NDArray[np.float64]:
    """Return what each answer costs.

    Args:
        costs: see `ClassOptions`.
        labels: the classes in the order of their numbers.

    Returns:
        The cost of answering class k where class j is right, at row j and column k; 0 where k is j, [Y, Y].

    Raises:
        UsageError: if there is no such class, or a right answer has a cost.
    """
    number = {label: place for place, label in enumerate(labels)}
    matrix = 1.0 - np.eye(len(labels))

    def place(name: str, where: str) -> int:
        check_known(name, number, f"{where}: there is no class {name!r}")
        return number[name]

    fields = Fields(costs, "", "model.task_options.costs.", UsageError)
    for gold in fields:
        own = place(gold, "model.task_options.costs")
        if not is_table(fields.value(gold)):
            matrix[own, np.arange(len(labels)) != own] = fields.number(gold)
            continue
        row = fields.part(gold)
        for answer in row:
            where = f"model.task_options.costs.{gold}"
            if answer == gold:
                raise UsageError(f"{where}: a right answer costs nothing; leave {answer!r} out")
            matrix[own, place(answer, where)] = row.number(answer)
    return matrix


def confused(gold: NDArray[np.int64], answered: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Count the examples of each class by their answers.

    Args:
        gold: numbers of the right classes, [N].
        answered: of those that were answered, [N].
        classes: how many there are, Y.

    Returns:
        Examples of class j that were answered with class k, at row j and column k, [Y, Y].
    """
    return np.bincount(gold * classes + answered, minlength=classes * classes).reshape(classes, classes)


def refuse_reject_class(options: ClassOptions, labels: Sequence[str]) -> None:
    """Refuse a class of the name that is answered where no class fits.

    Args:
        options: the settings of the task itself.
        labels: the classes.

    Raises:
        UsageError: if there is such a class.
    """
    if options.keep and not options.reject_label.strip():
        raise UsageError(
            "model.task_options.reject_label: expected a name, such as 'none of these', got an empty one"
        )
    if options.keep and options.reject_label in labels:
        raise UsageError(
            f"model.task_options.reject_label: {options.reject_label!r:.60} is a class of the training rows; move "
            "these rows to a file of --none-of-these, or choose another name"
        )


OF_MOST_PROBABLE = "cost_of_most_probable"
"""What the most probable classes would cost, beside `MEAN_COST` of those that are answered."""


def figures(
    gold: NDArray[np.int64],
    answered: NDArray[np.int64],
    weights: NDArray[np.floating] | None,
    stated: Mapping[str, object],
    labels: Sequence[str],
) -> dict[str, float]:
    """Return the metrics of some answers, the mean cost among them where wrong ones have costs.

    Args:
        gold: numbers of the right classes, [N].
        answered: of those that were answered, [N].
        weights: how much each example counts, [N]; None for all alike.
        stated: the costs as the settings give them; empty for none.
        labels: the classes.

    Returns:
        The metrics by their names.
    """
    found = classification_metrics(gold, answered, weights)
    if stated:
        costs = cost_matrix(stated, labels)
        found[MEAN_COST] = float(np.average(costs[gold, answered], weights=weights))
    return found


def with_costs(report: Report, costs: Sequence[Sequence[float]], counts: NDArray[np.int64]) -> Report:
    """Add the mean cost of the answers, and of the most probable classes, where wrong answers have costs.

    Args:
        report: of the answers.
        costs: of answering class k where class j is right, at row j and column k; empty for none.
        counts: of the examples by gold and answer, for what is answered and for the most probable classes, [2, Y, Y].

    Returns:
        The report with both.
    """
    if not costs or not counts.any():
        return report
    means = (counts * np.array(costs)).sum(axis=(1, 2)) / report.count
    named = dict(zip((MEAN_COST, OF_MOST_PROBABLE), means.tolist(), strict=True))
    return replace(report, metrics={**report.metrics, **named})
