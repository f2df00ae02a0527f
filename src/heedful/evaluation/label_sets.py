"""The report on answers that may hold several labels, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.metrics import NAMES, length_bins
from heedful.evaluation.report import figures_by_group
from heedful.evaluation.report_text import Groups, Report
from heedful.evaluation.role_counts import RoleCounts
from heedful.evaluation.statistics import STATISTICS, pack_frames

Flags = NDArray[np.bool_]
Shares = NDArray[np.float64]


def label_metrics(
    gold: Flags,
    answered: Flags,
    scores: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
) -> dict[str, float]:
    """Compute the figures of several labels a text.

    Args:
        gold: which labels an example has, [N, Y].
        answered: which labels were answered, [N, Y].
        scores: of each label, higher is likelier, [N, Y].
        weights: how much each example counts, [N]; None for all alike.

    Returns:
        "micro_f1" over all labels of all examples; "macro_f1", the mean over the labels that occur in gold or answers;
        "subset_accuracy", the share of examples all of whose labels are right; and "lrap", the label ranking average
        precision.
    """
    _, _, f1, _ = of_each_label(gold, answered, weights)
    occurs = gold.any(axis=0) | answered.any(axis=0)
    right, both = (gold & answered).sum(axis=1), gold.sum(axis=1) + answered.sum(axis=1)
    counted = float(both.sum() if weights is None else both @ weights)
    found = float(right.sum() if weights is None else right @ weights)
    return {
        "micro_f1": 2 * found / counted if counted else 0.0,
        "macro_f1": float(f1[occurs].mean()) if occurs.any() else 0.0,
        "subset_accuracy": float(np.average((gold == answered).all(axis=1), weights=weights)),
        "lrap": float(np.average(_ranking_precision(gold, scores), weights=weights)),
    }


_CELLS = 1 << 20
"""Scores that are ranked at a time."""


def _ranking_precision(gold: Flags, scores: NDArray[np.floating]) -> Shares:
    """Return the mean over the labels of each example of the share of its labels among all that score as high, [N].

    Rows in which every label, or none, is gold have 1, as in scikit-learn's
    `label_ranking_average_precision_score`, which ranks row by row in Python.
    """
    rows = max(1, _CELLS // max(1, gold.shape[1]))
    found = np.ones(len(gold))
    for start in range(0, len(gold), rows):
        own, here = gold[start : start + rows], scores[start : start + rows]
        order = np.argsort(-here, axis=1, kind="stable")
        ranked, right = np.take_along_axis(here, order, 1), np.take_along_axis(own, order, 1)
        # equal scores share the place of the last of them
        place = np.broadcast_to(np.arange(own.shape[1]), own.shape)
        ends = np.where(
            np.pad(ranked[:, :-1] != ranked[:, 1:], ((0, 0), (0, 1)), constant_values=True), place, 1 << 40
        )
        last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        share = np.take_along_axis(right.cumsum(axis=1), last, 1) / (last + 1)
        many = right.sum(axis=1)
        some = (many > 0) & (many < own.shape[1])
        found[start : start + rows][some] = (share * right).sum(axis=1)[some] / many[some]
    return found


def of_each_label(
    gold: Flags, answered: Flags, weights: NDArray[np.floating] | None = None
) -> tuple[Shares, Shares, Shares, NDArray[np.int64]]:
    """Count each label by itself; scikit-learn takes a single column of labels for two classes.

    Args:
        gold: see `label_metrics`.
        answered: likewise.
        weights: likewise.

    Returns:
        Precision, recall and F1 of each label, 0 where they are not defined, and in how many examples it is right, [Y].
    """
    counts = np.ones(len(gold)) if weights is None else np.asarray(weights, np.float64)
    right, found, many = (counts @ flags for flags in (gold & answered, answered, gold))

    def share(part: Shares, whole: Shares) -> Shares:
        return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)

    return share(right, found), share(right, many), share(2 * right, found + many), gold.sum(axis=0)


def evaluate_label_sets(
    gold: Flags,
    answered: Flags,
    scores: NDArray[np.floating],
    labels: Sequence[str],
    *,
    groups: Sequence[str] = (),
    lengths: NDArray[np.int64] | None = None,
) -> Report:
    """Report on answers of several labels.

    Args:
        gold: see `label_metrics`.
        answered: likewise.
        scores: likewise.
        labels: the names, [Y].
        groups: group of each example, [N]; empty for none.
        lengths: tokens of each text, [N, sides]; None leaves the figures by length out.

    Returns:
        The report, to which the caller adds the time that the predictions took and its notes; its single answers are
            counts of labels, as those of semantic roles are.
    """
    precision, recall, f1, count = of_each_label(gold, answered)
    right, many, found = (gold & answered).sum(axis=1), gold.sum(axis=1), answered.sum(axis=1)
    packed = pack_frames(
        [RoleCounts(int(r), int(a - r), int(g - r)) for r, g, a in zip(right, many, found, strict=True)]
    )

    def by(names: Sequence[str]) -> Groups:
        return figures_by_group(
            names, lambda here: label_metrics(gold[here], answered[here], scores[here]), len(gold)
        )

    return Report(
        len(gold),
        label_metrics(gold, answered, scores),
        by(groups),
        {
            name: {"precision": float(p), "recall": float(r), "f1": float(f), "count": int(c)}
            for name, p, r, f, c in zip(labels, precision, recall, f1, count, strict=True)
        },
        gold=packed[0],
        predicted=packed[1],
        by_length=_in_order(by(length_bins(lengths))) if lengths is not None else {},
        statistics={name: STATISTICS[name] for name in ("micro_f1", "subset_accuracy")},
    )


def _in_order(bins: Groups) -> Groups:
    return {name: bins[name] for name in NAMES if name in bins}
