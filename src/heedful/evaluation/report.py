"""A report: the metrics of one model on one data set, overall and by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.calibration import Calibration
from heedful.evaluation.metrics import (
    NAMES,
    class_scores,
    classification_metrics,
    length_bins,
    relatedness_metrics,
)
from heedful.evaluation.report_text import Groups, Report
from heedful.evaluation.statistics import STATISTICS

FULL_CONFUSION = 200
"""Classes whose confusion matrix is kept in full: it grows with their square."""

Columns = (
    tuple[NDArray[np.generic], NDArray[np.generic]]
    | tuple[NDArray[np.generic], NDArray[np.generic], NDArray[np.int64]]
)
"""gold [N], predicted [N] and, of counted examples, how often each occurs, [N]."""
Measure = Callable[..., dict[str, float]]
"""gold [N], predicted [N] and, of counted examples, how often each occurs, [N], to the metrics."""


def evaluate_classes(
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    labels: Sequence[str],
    *,
    groups: Sequence[str] = (),
    lengths: NDArray[np.int64] | None = None,
    calibration: Calibration | None = None,
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
    times: NDArray[np.int64] | None = None,
) -> Report:
    """Report on predicted classes.

    Args:
        gold: class numbers, [N].
        predicted: class numbers, [N].
        labels: class names in the order of their numbers.
        groups: group of each example, [N]; empty for none.
        lengths: tokens of each text, [N, sides]; None leaves the figures by length out.
        calibration: of the probabilities; None where there are none.
        seconds: time the predictions took.
        notes: counts to print below the figures.
        times: how often each example occurs, [N]; None for once.

    Returns:
        The report.
    """
    scores = class_scores(gold, predicted, np.arange(len(labels)), times)
    columns: Columns = (gold, predicted) if times is None else (gold, predicted, times)
    return Report(
        len(gold) if times is None else int(times.sum()),
        classification_metrics(*columns),
        _by_group(columns, groups, classification_metrics),
        {
            name: {"precision": float(p), "recall": float(r), "f1": float(f), "count": int(c)}
            for name, p, r, f, c in zip(labels, *scores, strict=True)
        },
        _confusion(gold, predicted, labels, times),
        seconds,
        notes or {},
        gold,
        predicted,
        _by_length(columns, lengths, classification_metrics),
        calibration,
        {name: STATISTICS[name] for name in ("accuracy", "macro_f1")},
        times=times,
    )


def _confusion(
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    labels: Sequence[str],
    times: NDArray[np.int64] | None,
) -> dict[str, dict[str, int]]:
    """Count the predicted classes of each gold class; of many classes only cells that are not 0 are kept."""
    classes = len(labels)
    known = (gold >= 0) & (gold < classes)  # a label that training did not know has no row
    cells, places = np.unique(gold[known] * classes + predicted[known], return_inverse=True)
    counts = np.bincount(places, None if times is None else times[known], minlength=len(cells)).astype(
        np.int64
    )
    every = labels if classes <= FULL_CONFUSION else ()
    found = {name: dict.fromkeys(every, 0) for name in labels}
    for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
        found[labels[cell // classes]][labels[cell % classes]] = count
    return found


def evaluate_scores(
    gold: NDArray[np.floating],
    predicted: NDArray[np.floating],
    *,
    groups: Sequence[str] = (),
    lengths: NDArray[np.int64] | None = None,
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
    metrics: Measure = relatedness_metrics,
) -> Report:
    """Report on predicted scores.

    Args:
        gold: scores, [N].
        predicted: scores, [N].
        groups: group of each example, [N]; empty for none.
        lengths: tokens of each text, [N, sides]; None leaves the figures by length out.
        seconds: time the predictions took.
        notes: counts to print below the figures.
        metrics: computes the figures; each must be one of `STATISTICS`.

    Returns:
        The report.
    """
    figures = metrics(gold, predicted)
    return Report(
        len(gold),
        figures,
        _by_group((gold, predicted), groups, metrics),
        seconds=seconds,
        notes={**(notes or {}), **undefined(gold)},
        gold=gold,
        predicted=predicted,
        by_length=_by_length((gold, predicted), lengths, metrics),
        statistics={name: STATISTICS[name] for name in figures},
    )


def undefined(gold: NDArray[np.floating]) -> dict[str, int]:
    """Return a note on gold that does not vary, [N], whose correlations and R² are shown as 0; else none."""
    same = "examples with one and the same gold number: correlations and R² are not defined, and 0 stands for them"
    return {same: len(gold)} if len(gold) and np.ptp(gold) == 0 else {}


def figures_by_group(
    groups: Sequence[str],
    figures: Callable[[NDArray[np.bool_]], dict[str, float]],
    count: int,
    times: NDArray[np.int64] | None = None,
) -> Groups:
    """Break figures down.

    Args:
        groups: group of each example, [N]; empty for none.
        figures: computes those of the examples where a mask, [N], is True.
        count: N.
        times: how often each example occurs, [N]; None for once.

    Returns:
        The figures of each group, and its size under "count".
    """
    if not count or not any(groups):
        return {}
    names, found = np.asarray(groups), Groups()
    for name in sorted(set(groups)):
        here = names == name
        found[name or "(none)"] = {**figures(here), "count": _sum(here, times)}
    return found


def _by_group(columns: Columns, groups: Sequence[str], metrics: Measure) -> Groups:
    times = columns[2] if len(columns) > 2 else None
    return figures_by_group(
        groups, lambda here: metrics(*(column[here] for column in columns)), len(columns[0]), times
    )


def _by_length(columns: Columns, lengths: NDArray[np.int64] | None, metrics: Measure) -> Groups:
    if lengths is None or not len(lengths):
        return {}
    found = _by_group(columns, length_bins(lengths), metrics)
    return {name: found[name] for name in NAMES if name in found}


def _sum(here: NDArray[np.bool_], times: NDArray[np.int64] | None) -> int:
    """Return how many examples a mask, [N], has."""
    return int(here.sum() if times is None else times[here].sum())
