"""Turn predictions and gold labels into figures."""

from heedful.evaluation.calibration import Calibration, Reliability, calibration, fit_temperature
from heedful.evaluation.metrics import classification_metrics, relatedness_metrics
from heedful.evaluation.report import evaluate_classes, evaluate_scores
from heedful.evaluation.report_text import Report
from heedful.evaluation.role_counts import RoleCounts, RoleScores, compare_frames
from heedful.evaluation.sequences import evaluate_roles, evaluate_tags
from heedful.evaluation.significance import (
    Comparison,
    Interval,
    accuracy_interval,
    bootstrap_interval,
    mcnemar,
    paired_bootstrap,
    paired_seeds,
)
from heedful.evaluation.statistics import METRICS, Metric, holm

__all__ = [
    "METRICS",
    "Calibration",
    "Comparison",
    "Interval",
    "Metric",
    "Reliability",
    "Report",
    "RoleCounts",
    "RoleScores",
    "accuracy_interval",
    "bootstrap_interval",
    "calibration",
    "classification_metrics",
    "compare_frames",
    "evaluate_classes",
    "evaluate_roles",
    "evaluate_scores",
    "evaluate_tags",
    "fit_temperature",
    "holm",
    "mcnemar",
    "paired_bootstrap",
    "paired_seeds",
    "relatedness_metrics",
]
