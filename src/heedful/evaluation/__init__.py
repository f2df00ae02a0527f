"""Predictions and gold to numbers."""

from heedful.evaluation.metrics import METRICS, Metric, classification_metrics, relatedness_metrics
from heedful.evaluation.report import Report, evaluate_classes, evaluate_scores

__all__ = [
    "METRICS",
    "Metric",
    "Report",
    "classification_metrics",
    "evaluate_classes",
    "evaluate_scores",
    "relatedness_metrics",
]
