"""Predictions and gold to numbers."""

from heedful.evaluation.calibration import Calibration, Reliability, calibration, fit_temperature
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
    "Calibration",
    "Comparison",
    "Interval",
    "Metric",
    "Reliability",
    "Report",
    "accuracy_interval",
    "bootstrap_interval",
    "calibration",
    "classification_metrics",
    "evaluate_classes",
    "evaluate_scores",
    "fit_temperature",
    "mcnemar",
    "paired_bootstrap",
    "paired_seeds",
    "relatedness_metrics",
]
