"""The metrics of many weighted copies of a data set at once, for `heedful.evaluation.significance`.

A bootstrap resample is the data set with a count for each example, so that most metrics are sums over examples and all
resamples one matrix product; scikit-learn and SciPy, which count one data set at a time, would take minutes. A test
compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.bleu import bleu_of_copies
from heedful.evaluation.roles import Counts

Values = NDArray[Any]
Weights = NDArray[np.float64]
Statistic = Callable[[Values, Values, Weights], NDArray[np.float64]]
"""gold [N], predicted [N] and how often each example counts, [R, N], to the metric of each of the R copies, [R]."""


def accuracy(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the share of right answers."""
    return _means(weights, gold == predicted)[:, 0]


def macro_f1(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the mean F1 over the classes that occur in gold or predicted, in each copy by itself."""
    classes = np.union1d(gold, predicted)
    is_gold, is_predicted = gold[:, None] == classes, predicted[:, None] == classes
    both, either = weights @ (is_gold & is_predicted), weights @ (1.0 * is_gold + is_predicted)
    found: NDArray[np.float64] = np.sum(2 * both / np.maximum(either, 1e-12), axis=1) / np.sum(
        either > 0, axis=1
    )
    return found


def pearson(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return Pearson's correlation; 0 with a constant."""
    x, y = gold - np.mean(gold, dtype=np.float64), predicted - np.mean(predicted, dtype=np.float64)
    return _correlation(*_means(weights, x, y, x * x, y * y, x * y).T)


def spearman(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return Spearman's correlation, ties by their mean rank in each copy; 0 with a constant."""
    x, y = _ranks(gold, weights), _ranks(predicted, weights)
    xx, yy, xy = (
        np.einsum("rn,rn,rn->r", weights, *pair) / weights.sum(axis=1) for pair in ((x, x), (y, y), (x, y))
    )
    return _correlation(np.zeros_like(xx), np.zeros_like(yy), xx, yy, xy)


def mse(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the mean squared error."""
    return _means(weights, (np.asarray(gold, np.float64) - predicted) ** 2)[:, 0]


def f1(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the F1 of arguments; frames as `pack_frames` gives them."""
    correct, answered = np.divmod(predicted, _FRAME)
    return _ratio(weights, 2 * correct, gold + answered)


def precision(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the share of answered arguments that are right."""
    correct, answered = np.divmod(predicted, _FRAME)
    return _ratio(weights, correct, answered)


def recall(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the share of the gold's arguments that were found."""
    return _ratio(weights, predicted // _FRAME, gold)


def complete(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the share of frames all of whose arguments are right, and nothing else."""
    correct, answered = np.divmod(predicted, _FRAME)
    return _means(weights, (correct == gold) & (answered == gold))[:, 0]


STATISTICS: dict[str, Statistic] = {
    "accuracy": accuracy,
    "macro_f1": macro_f1,
    "pearson": pearson,
    "spearman": spearman,
    "mse": mse,
    "bleu": bleu_of_copies,
    "f1": f1,
    "precision": precision,
    "recall": recall,
    "complete": complete,
}
"""Name of a metric to its form over weighted copies."""


_FRAME = 1000
"""More than the arguments of one frame."""


def pack_frames(counts: Sequence[Counts]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one number a frame for gold and answer, so that frames can be resampled like other examples.

    Args:
        counts: of the arguments of each frame, [N].

    Returns:
        Arguments in the gold, and ``1000 * right ones + arguments in the answer``, [N] each.
    """
    gold = np.array([one.correct + one.missed for one in counts], np.int64)
    answered = np.array([one.correct * _FRAME + one.correct + one.excess for one in counts], np.int64)
    return gold, answered


def _ratio(weights: Weights, part: Values, whole: Values) -> NDArray[np.float64]:
    """Return the weighted sum of one column over that of another, in each copy; 0 of nothing."""
    found: NDArray[np.float64] = weights @ np.stack([part, whole], axis=1).astype(np.float64)
    return found[:, 0] / np.maximum(found[:, 1], 1e-12)


def _means(weights: Weights, *columns: Values) -> NDArray[np.float64]:
    """Return the weighted mean of each column in each copy, [R, columns]."""
    found: NDArray[np.float64] = weights @ np.stack(columns, axis=1).astype(np.float64)
    return found / weights.sum(axis=1, keepdims=True)


def _correlation(x: Values, y: Values, xx: Values, yy: Values, xy: Values) -> NDArray[np.float64]:
    """Return the correlation from the means of x, y and their products; a variance of rounding errors is none."""
    vx, vy = xx - x * x, yy - y * y
    constant = (vx <= 1e-12 * xx) | (vy <= 1e-12 * yy)
    return np.where(constant, 0.0, (xy - x * y) / np.sqrt(np.where(constant, 1.0, vx * vy)))


def _ranks(values: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the rank of each value in each copy, [R, N], from -1 (lowest) to 1, so that the mean rank is 0."""
    _, place = np.unique(values, return_inverse=True)
    counts = _summed(weights, place)
    below = np.cumsum(counts, axis=1)
    ranks: NDArray[np.float64] = (2 * below - counts) / below[:, -1:] - 1
    return ranks[:, place]


def _summed(weights: Weights, place: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the weight of each distinct value in each copy."""
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    found: NDArray[np.float64] = np.add.reduceat(weights[:, order], starts, axis=1)
    return found
