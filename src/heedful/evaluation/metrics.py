"""The metrics of classes, grades and numbers. Tests compare them with scikit-learn's and SciPy's."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.statistics import STATISTICS


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
    classes = np.unique(np.concatenate([gold, predicted]))
    return {
        "accuracy": float(np.average(gold == predicted, weights=times)),
        "macro_f1": float(np.average(class_scores(gold, predicted, classes, times).f1)),
    }


class ClassScores(NamedTuple):
    """How each class was found, [Y] each.

    Attributes:
        precision: the share of its predictions that are right; 0 where it was not predicted.
        recall: the share of its examples that were found; 0 where there are none.
        f1: the harmonic mean of both.
        total: its examples, or the sum of how often they count.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    total: NDArray[np.float64]


def class_scores(
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    classes: NDArray[np.int64],
    times: NDArray[np.integer] | NDArray[np.floating] | None = None,
) -> ClassScores:
    """Count precision, recall and F1 of each class.

    Args:
        gold: class numbers, [N].
        predicted: class numbers, [N].
        classes: those that are counted, sorted, [Y]; other numbers are none of them.
        times: how often each example counts, [N]; None for once.

    Returns:
        The figures.
    """
    weights = None if times is None else np.asarray(times, np.float64)

    def counted(which: NDArray[np.int64], own: NDArray[np.float64] | None) -> NDArray[np.float64]:
        places = np.searchsorted(classes, which)
        places[np.append(classes, 0)[places] != which] = len(classes)
        return np.bincount(places, own, len(classes) + 1)[: len(classes)].astype(np.float64)

    right = gold == predicted
    hits = counted(gold[right], None if weights is None else weights[right])
    said, there = counted(predicted, weights), counted(gold, weights)
    return ClassScores(_share(hits, said), _share(hits, there), _share(2 * hits, said + there), there)


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


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
    columns = (np.asarray(gold, np.float64), np.asarray(predicted, np.float64))
    once = np.asarray(weights, np.float64)[None]
    return {name: float(STATISTICS[name](*columns, once)[0]) for name in names}
