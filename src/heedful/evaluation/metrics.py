"""The metrics, counted by scikit-learn and SciPy, each with its direction."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray


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
        Metric("bleu", "higher"),
        Metric("chrf", "higher"),
        Metric("perplexity", "lower"),
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


def classification_metrics(
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    times: NDArray[np.integer] | NDArray[np.floating] | None = None,
) -> dict[str, float]:
    """Count accuracy and macro-averaged F1.

    Args:
        gold: class numbers, [N], N >= 1.
        predicted: class numbers, [N].
        times: how often each example counts, [N]; None for once.

    Returns:
        "accuracy" and "macro_f1", over the classes that occur in either.
    """
    from sklearn.metrics import f1_score

    return {
        "accuracy": float(np.average(gold == predicted, weights=times)),
        "macro_f1": float(f1_score(gold, predicted, average="macro", zero_division=0.0, sample_weight=times)),
    }


def relatedness_metrics(
    gold: NDArray[np.floating],
    predicted: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
) -> dict[str, float]:
    """Compute Pearson's and Spearman's correlation and the mean squared error.

    A correlation with a constant is undefined; it is reported as 0, the value of a useless prediction.

    Args:
        gold: scores, [N].
        predicted: scores, [N].
        weights: how much each example counts, [N]; None for all alike.

    Returns:
        "pearson", "spearman" and "mse".
    """
    from scipy import stats

    if weights is not None:
        return _weighted(("pearson", "spearman", "mse"), gold, predicted, weights)
    gold, predicted = np.asarray(gold, np.float64), np.asarray(predicted, np.float64)
    constant = len(gold) < 2 or np.ptp(gold) == 0 or np.ptp(predicted) == 0
    with warnings.catch_warnings():  # a young model predicts nearly the same for everything
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return {
            "pearson": 0.0 if constant else float(stats.pearsonr(gold, predicted)[0]),
            "spearman": 0.0 if constant else float(stats.spearmanr(gold, predicted)[0]),
            "mse": float(np.mean((gold - predicted) ** 2)),
        }


EDGES = (5, 10, 15, 20, 25, 30, 40, 60, 100)
"""Longest sentence of each bin but the last, in tokens."""

NAMES = (
    *(f"{low + 1}-{high}" for low, high in zip((-1, *EDGES), EDGES, strict=False)),
    f"over {EDGES[-1]}",
)
"""Names of the bins, shortest first."""


def length_bins(lengths: NDArray[np.int64]) -> list[str]:
    """Name the bin of each example.

    Args:
        lengths: tokens of each text, [N, sides]; the longest text of an example counts.

    Returns:
        Names, [N].
    """
    return [NAMES[number] for number in length_bin_numbers(lengths)]


def length_bin_numbers(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place in `NAMES` of the bin of each example, [N]; see `length_bins`."""
    return np.searchsorted(EDGES, lengths.max(axis=1), side="left")


def number_metrics(
    gold: NDArray[np.floating],
    predicted: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
) -> dict[str, float]:
    """Compute what is measured of numbers of any range.

    R² is the share of the variance of gold that is explained: 1 for what is right, 0 for the mean of gold, below 0 for
    what is worse than that. Where gold does not vary it is reported as 0.

    Args:
        gold: numbers, [N].
        predicted: numbers, [N].
        weights: how much each example counts, [N]; None for all alike.

    Returns:
        "r2", "pearson", "spearman", "mse" and "mae".
    """
    from sklearn.metrics import r2_score

    if weights is not None:
        return _weighted(("r2", "pearson", "spearman", "mse", "mae"), gold, predicted, weights)
    gold, predicted = np.asarray(gold, np.float64), np.asarray(predicted, np.float64)
    varies = len(gold) > 1 and np.ptp(gold) > 0
    return {
        "r2": float(r2_score(gold, predicted)) if varies else 0.0,
        **relatedness_metrics(gold, predicted),
        "mae": float(np.mean(np.abs(gold - predicted))),
    }


def _weighted(
    names: Sequence[str],
    gold: NDArray[np.floating],
    predicted: NDArray[np.floating],
    weights: NDArray[np.floating],
) -> dict[str, float]:
    """Compute metrics of scores of which each counts by its weight."""
    from heedful.evaluation.statistics import STATISTICS

    columns = (np.asarray(gold, np.float64), np.asarray(predicted, np.float64))
    once = np.asarray(weights, np.float64)[None]
    return {name: float(STATISTICS[name](*columns, once)[0]) for name in names}
