"""Predictions and gold to numbers."""

from heedful.evaluation.metrics import METRICS, Metric, classification_metrics, relatedness_metrics
from heedful.evaluation.report import Report, evaluate_classes, evaluate_scores
from heedful.evaluation.significance import (
    Comparison,
    Interval,
    accuracy_interval,
    bootstrap_interval,
    mcnemar,
    paired_bootstrap,
    paired_seeds,
)

__all__ = [
    "METRICS",
    "Comparison",
    "Interval",
    "Metric",
    "Report",
    "accuracy_interval",
    "bootstrap_interval",
    "classification_metrics",
    "evaluate_classes",
    "evaluate_scores",
    "mcnemar",
    "paired_bootstrap",
    "paired_seeds",
    "relatedness_metrics",
]
