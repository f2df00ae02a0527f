"""The report on answers that give each of several label columns its class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.label_sets import Flags, evaluate_label_sets, label_metrics
from heedful.evaluation.report_text import Report

Places = Mapping[str, NDArray[np.int64]]


def column_metrics(
    gold: Flags, answered: Flags, places: Places, weights: NDArray[np.floating] | None = None
) -> dict[str, float]:
    """Compute the figures of label columns.

    Args:
        gold: which classes an example has, at most one of each column, [N, Y].
        answered: which were answered, one of each column, [N, Y].
        places: the places of the classes of each column.
        weights: how much each example counts, [N]; None for all alike.

    Returns:
        "micro_f1", which is the accuracy over all cells that have a class; "macro_f1", the mean over the classes;
        "subset_accuracy", the share of examples with every column right; and for each column its accuracy and macro F1
        over the rows that have a class of it, such as "accuracy: mood" and "macro_f1: mood". A column without gold has
        none.
    """
    asked = answered & known_cells(gold, places)
    found = _without_ranking(label_metrics(gold, asked, asked.astype(np.float64), weights))
    for column, own in places.items():
        rows = np.flatnonzero(gold[:, own].any(axis=1))
        if len(rows):
            count = None if weights is None else weights[rows]
            inside = np.ix_(rows, own)
            of_column = label_metrics(gold[inside], asked[inside], asked[inside].astype(np.float64), count)
            found[f"accuracy: {column}"] = of_column["subset_accuracy"]
            found[f"macro_f1: {column}"] = of_column["macro_f1"]
    return found


def known_cells(gold: Flags, places: Places) -> Flags:
    """Return the classes of those columns of which an example has a class, [N, Y]."""
    found = np.zeros(gold.shape, bool)
    for own in places.values():
        found[:, own] = gold[:, own].any(axis=1, keepdims=True)
    return found


def evaluate_label_columns(
    gold: Flags,
    answered: Flags,
    labels: Sequence[str],
    places: Places,
    *,
    groups: Sequence[str] = (),
    lengths: NDArray[np.int64] | None = None,
) -> Report:
    """Report on answers for label columns; see `column_metrics` and `evaluate_label_sets` for the arguments."""
    asked = answered & known_cells(gold, places)
    report = evaluate_label_sets(
        gold, asked, asked.astype(np.float64), labels, groups=groups, lengths=lengths
    )
    return replace(
        report,
        metrics=column_metrics(gold, answered, places),
        by_group={name: _without_ranking(each) for name, each in report.by_group.items()},
        by_length={name: _without_ranking(each) for name, each in report.by_length.items()},
    )


def _without_ranking(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if name != "lrap"}
