"""A report: the metrics of one model on one data set, overall and by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.metrics import classification_metrics, relatedness_metrics


@dataclass(frozen=True)
class Report:
    """What an evaluation found.

    Attributes:
        count: number of examples with gold.
        metrics: metric name to value.
        by_group: metrics of each group (genre, phenomenon), and its size under "count"; empty without groups.
        per_class: for each class its gold count, precision, recall and F1; empty for scores.
        confusion: gold class to predicted class to count; empty for scores.
        seconds: time the predictions took.
        notes: counts that matter for trust: empty texts, unknown words, cut sentences.
        gold: class numbers or scores, [N], in the order of the examples; not part of `as_dict`.
        predicted: likewise what was answered, [N].
    """

    count: int
    metrics: dict[str, float]
    by_group: dict[str, dict[str, float]] = field(default_factory=dict)
    per_class: dict[str, dict[str, float]] = field(default_factory=dict)
    confusion: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: float = 0.0
    notes: dict[str, int] = field(default_factory=dict)
    gold: NDArray[Any] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    predicted: NDArray[Any] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return every figure as plain values for JSON; the single answers are left out."""
        answers = ("gold", "predicted")
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name not in answers}

    def render(self) -> str:
        """Return the report as lines for a terminal."""
        head = "  ".join(f"{name} {value:.4f}" for name, value in self.metrics.items())
        lines = [f"{head}  ({self.count:,} examples, {self.seconds:.1f} s)"]
        if self.per_class:
            width = max(len(name) for name in self.per_class)
            lines.append(f"{'class':<{width}}  precision  recall      F1   count")
            lines += [
                f"{name:<{width}}  {row['precision']:9.3f} {row['recall']:7.3f} {row['f1']:7.3f} {int(row['count']):7,}"
                for name, row in self.per_class.items()
            ]
        if self.by_group:
            width = max(len(name) for name in self.by_group)
            key = next(iter(self.metrics))
            lines.append(f"{'group':<{width}}  {key:>9}   count")
            lines += [
                f"{name:<{width}}  {row[key]:9.4f} {int(row['count']):7,}"
                for name, row in self.by_group.items()
            ]
        lines += [f"{count:,} {what}" for what, count in self.notes.items() if count]
        return "\n".join(lines)


def evaluate_classes(
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    labels: Sequence[str],
    *,
    groups: Sequence[str] = (),
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
) -> Report:
    """Report on predicted classes.

    Args:
        gold: class numbers, [N].
        predicted: class numbers, [N].
        labels: class names in the order of their numbers.
        groups: group of each example, [N]; empty for none.
        seconds: time the predictions took.
        notes: counts to print below the figures.

    Returns:
        The report.
    """
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    numbers = list(range(len(labels)))
    precision, recall, f1, count = precision_recall_fscore_support(
        gold, predicted, labels=numbers, zero_division=0.0
    )
    matrix = confusion_matrix(gold, predicted, labels=numbers)
    return Report(
        len(gold),
        classification_metrics(gold, predicted),
        _by_group(gold, predicted, groups, classification_metrics),
        {
            name: {"precision": float(p), "recall": float(r), "f1": float(f), "count": int(c)}
            for name, p, r, f, c in zip(labels, precision, recall, f1, count, strict=True)
        },
        {
            name: {other: int(cell) for other, cell in zip(labels, row, strict=True)}
            for name, row in zip(labels, matrix, strict=True)
        },
        seconds,
        notes or {},
        gold,
        predicted,
    )


def evaluate_scores(
    gold: NDArray[np.floating],
    predicted: NDArray[np.floating],
    *,
    groups: Sequence[str] = (),
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
) -> Report:
    """Report on predicted scores.

    Args:
        gold: scores, [N].
        predicted: scores, [N].
        groups: group of each example, [N]; empty for none.
        seconds: time the predictions took.
        notes: counts to print below the figures.

    Returns:
        The report.
    """
    return Report(
        len(gold),
        relatedness_metrics(gold, predicted),
        _by_group(gold, predicted, groups, relatedness_metrics),
        seconds=seconds,
        notes=notes or {},
        gold=gold,
        predicted=predicted,
    )


def _by_group(gold: Any, predicted: Any, groups: Sequence[str], metrics: Any) -> dict[str, dict[str, float]]:
    names = np.asarray(groups)
    if not any(groups):
        return {}
    found: dict[str, dict[str, float]] = {}
    for name in sorted(set(groups)):
        here = names == name
        found[name or "(none)"] = {**metrics(gold[here], predicted[here]), "count": int(here.sum())}
    return found
