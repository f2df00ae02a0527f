"""A small report with calibration and figures by length."""

from __future__ import annotations

import numpy as np

from heedful.evaluation import Report, calibration, evaluate_classes

GOLD = np.array([0, 0, 1, 1, 0])
LOGITS = np.array([[2.0, 0], [0, 1], [0, 3], [0, 1], [1, 0]])
LENGTHS = np.array([[3], [5], [6], [12], [400]])


def made_report() -> Report:
    """Return a report of five answers of two classes."""
    return evaluate_classes(
        GOLD,
        LOGITS.argmax(axis=1),
        ("no", "yes"),
        lengths=LENGTHS,
        calibration=calibration(LOGITS, GOLD, 2.0),
    )
