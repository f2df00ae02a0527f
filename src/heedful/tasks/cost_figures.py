"""Figures of answers where wrong classes have costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation import Report, classification_metrics
from heedful.tasks.class_costs import cost_matrix
from heedful.training.state import MEAN_COST

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
