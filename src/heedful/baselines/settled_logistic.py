"""Logistic regression of scikit-learn, trained to its end with many classes and with long texts too."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from heedful.baselines.splits import Numbers, Rows

_SHARE = 0.03
"""The gradient at the end, as a share of that at the start."""


class SettledLogistic(LogisticRegression):
    """Logistic regression whose gradient at the end is at most a share of that at the start.

    scikit-learn compares ``tol`` with the gradient itself, a mean over rows. That of a feature is small from the
    start where a row has very many words or there are very many classes, and a model that has not left its start would
    count as trained.

    Args:
        C: inverse strength of regularization.
        max_iter: steps at most.
        tol: largest gradient at the end, where it is not too large by the rule above.
    """

    tol: float

    def __init__(self, C: float = 1.0, *, max_iter: int = 300, tol: float = 1e-4) -> None:
        super().__init__(C=C, max_iter=max_iter, tol=tol)

    def fit(self, X: Rows, y: Numbers, sample_weight: NDArray[np.float64] | None = None) -> Self:
        """Train; with weights, [N], each row counts by its own."""
        most = self.tol
        self.tol = min(most, _SHARE * _first_gradient(X, y, sample_weight))
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.tol = most


def _first_gradient(rows: Rows, gold: Numbers, weights: NDArray[np.float64] | None) -> float:
    """Return the largest part of the gradient of the mean loss where all weights are zero."""
    classes, places = np.unique(gold, return_inverse=True)
    share = np.ones(len(places)) if weights is None else weights
    mean = np.asarray(rows.T @ share) / len(classes)
    gradients = (mean - np.asarray(rows.T @ (share * (places == place))) for place in range(len(classes)))
    return float(max(np.abs(each).max(initial=0.0) for each in gradients) / share.sum())
