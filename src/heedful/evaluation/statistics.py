"""The metrics by name, each with its direction, and of many weighted copies of a data set at once for `significance`.

A bootstrap resample is the data set with a count for each example, so that most metrics are sums over examples and all
resamples one matrix product; scikit-learn and SciPy, which count one data set at a time, would take minutes. A test
compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.evaluation.role_counts import RoleCounts

Values = NDArray[Any]
Floats = NDArray[np.float64]
Weights = NDArray[np.float64]
Statistic = Callable[[Values, Values, Weights], NDArray[np.float64]]
"""gold [N], predicted [N] and how often each example counts, [R, N], to the metric of each of the R copies, [R]."""


@dataclass(frozen=True)
class Metric:
    """A named number and which way is better.

    Attributes:
        name: its key in a report.
        better: "higher" or "lower".
    """

    name: str
    better: Literal["higher", "lower"]


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "higher"),
        Metric("macro_f1", "higher"),
        Metric("pearson", "higher"),
        Metric("spearman", "higher"),
        Metric("mse", "lower"),
        Metric("mae", "lower"),
        Metric("r2", "higher"),
        Metric("loss", "lower"),
        Metric("f1", "higher"),
        Metric("precision", "higher"),
        Metric("recall", "higher"),
        Metric("complete", "higher"),
        Metric("predicate_f1", "higher"),
        Metric("ece", "lower"),
        Metric("micro_f1", "higher"),
        Metric("subset_accuracy", "higher"),
        Metric("lrap", "higher"),
        Metric("cost", "lower"),
    )
}


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


def mae(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the mean absolute error."""
    return _means(weights, np.abs(np.asarray(gold, np.float64) - predicted))[:, 0]


def r2(gold: Values, predicted: Values, weights: Weights) -> NDArray[np.float64]:
    """Return the share of the variance of gold that is explained; 0 where gold does not vary."""
    x = gold - np.mean(gold, dtype=np.float64)
    error, mean, square = _means(weights, (np.asarray(gold, np.float64) - predicted) ** 2, x, x * x).T
    variance = square - mean * mean
    constant = variance <= 1e-12 * square
    return np.where(constant, 0.0, 1 - error / np.where(constant, 1.0, variance))


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
    "mae": mae,
    "r2": r2,
    "f1": f1,
    "precision": precision,
    "recall": recall,
    "complete": complete,
    "micro_f1": f1,
    "subset_accuracy": complete,
}
"""Name of a metric to its form over weighted copies."""


def register_metric(
    name: str, better: Literal["higher", "lower"], statistic: Statistic | None = None
) -> None:
    """Make a metric of a task of your own known, for checkpoints, gates and tests.

    Args:
        name: its key in a report.
        better: which way is better.
        statistic: its form over weighted copies of the answers that a report keeps; None if it has none.
    """
    METRICS[name] = Metric(name, better)
    if statistic is not None:
        STATISTICS[name] = statistic


COUNTS = ("f1", "precision", "recall", "complete")
"""Metrics of answers that `pack_frames` packed."""
_FRAME = 1000
"""More than the arguments of one frame."""


def pack_frames(counts: Sequence[RoleCounts]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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


_CELLS = 4_000_000
"""Counts held at once."""


def resampled(
    statistic: Statistic, gold: Values, answers: Sequence[Values], resamples: int, seed: int
) -> list[NDArray[np.float64]]:
    """Return the metric of each system in every resample, the same resamples for all.

    Examples with the same gold and the same answers are one kind, and a resample is the count of each kind in it:
    classes come in few kinds, so that counting them is nearly all the work.

    Args:
        statistic: the metric.
        gold: [N].
        answers: of each system, [N].
        resamples: how many.
        seed: of the draws.

    Returns:
        One array a system, [resamples].
    """
    kinds, kind = np.unique(np.stack([gold, *answers]), axis=1, return_inverse=True)
    n, width, random = len(gold), kinds.shape[1], np.random.default_rng(seed)
    found: list[list[NDArray[np.float64]]] = [[] for _ in answers]
    for start in range(0, resamples, step := max(1, _CELLS // n)):
        rows = min(step, resamples - start)
        drawn = kind.reshape(-1)[random.integers(n, size=(rows, n), dtype=np.int32)]
        drawn += width * np.arange(rows)[:, None]
        weights = np.bincount(drawn.reshape(-1), minlength=rows * width).reshape(rows, width).astype(float)
        for values, predicted in zip(found, kinds[1:], strict=True):
            values.append(statistic(kinds[0], predicted, weights))
    return [np.concatenate(values) for values in found]


def resampled_counts(
    statistic: Statistic,
    gold: Values,
    predicted: Values,
    times: Values,
    resamples: int,
    seed: int,
    size: int | None = None,
) -> NDArray[np.float64]:
    """Return the metric of one system in every resample, from how often each kind of example occurs.

    The counts of the kinds in a resample of N examples are one draw of the multinomial distribution of N over the
    shares of the kinds. The distribution is that of `resampled`, but nothing is as long as the number of examples.

    Args:
        statistic: the metric.
        gold: of each kind, [K].
        predicted: likewise.
        times: how often it occurs, [K].
        resamples: how many.
        seed: of the draws.
        size: examples of a resample; None for as many as occur.

    Returns:
        The metric of each resample, [resamples].
    """
    kinds, kind = np.unique(np.stack([gold, predicted]), axis=1, return_inverse=True)
    counts = np.bincount(kind.reshape(-1), weights=times)
    n, random, found = int(counts.sum()), np.random.default_rng(seed), []
    for start in range(0, resamples, step := max(1, _CELLS // len(counts))):
        rows = min(step, resamples - start)
        weights = random.multinomial(size or n, counts / n, size=rows).astype(np.float64)
        found.append(statistic(kinds[0], kinds[1], weights))
    return np.concatenate(found)


def percentiles(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Return both ends of the interval that holds this share of the values in its middle."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def means(values: Sequence[float] | Sequence[Floats], split: int) -> tuple[Floats, Floats]:
    """Return the mean over the first runs, and over the others."""
    first, second = (np.asarray(np.mean(part, axis=0)) for part in (values[:split], values[split:]))
    return first, second


def whole(statistic: Statistic, gold: Values, predicted: Values, weights: Weights | None = None) -> float:
    """Return the metric of the data set as it is, or with each example counting by its weight, [N]."""
    return float(statistic(gold, predicted, np.ones((1, len(gold))) if weights is None else weights[None])[0])


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of one false alarm among all of them stays below the level (Holm, 1979).

    The k-th smallest of m is multiplied by m - k + 1, and none is smaller than one before it. It holds for tests that
    depend on each other, as those that share test examples do.

    Args:
        p_values: one a test, in [0, 1].

    Returns:
        The adjusted p-values in the same order, at most 1.

    Raises:
        UsageError: if one is not in [0, 1].
    """
    values = np.asarray(p_values, dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise UsageError(f"p_values must lie in [0, 1]; got {values.tolist()}")
    order = np.argsort(values, kind="stable")
    raised = values[order] * (len(values) - np.arange(len(values)))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0) if len(values) else raised
    return [float(value) for value in adjusted]
