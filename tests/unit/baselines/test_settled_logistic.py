"""Logistic regression against its own gradient at the start, where that is below the tolerance of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from heedful.baselines.linear import TFIDF_LOGISTIC, LinearEstimator, trained
from heedful.baselines.rivals import logistic
from heedful.baselines.settled_logistic import SettledLogistic


def many(classes: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return three rows a class, each with a feature of its class."""
    gold = np.tile(np.arange(classes), 3)
    return sparse.csr_matrix(np.eye(classes)[gold]), gold


@pytest.mark.parametrize(("classes", "tol"), [(2, 1e-4), (60, 1e-3), (400, 1e-2)])
def test_the_gradient_ends_small_against_its_start(classes: int, tol: float) -> None:
    rows, gold = many(classes)
    model = SettledLogistic(10.0, tol=tol).fit(rows, gold)
    assert model.n_iter_[0] > 0
    assert (model.predict(rows) == gold).all()
    assert model.tol == tol  # as it was set
    probabilities = model.predict_proba(rows)
    slopes = rows.T @ (probabilities - np.eye(classes)[gold]) / len(gold)
    penalty = model.coef_.T / (10.0 * len(gold))
    if classes == 2:
        slopes = slopes[:, 1:]
    assert np.abs(slopes + penalty).max() < 0.05 / classes


def test_scikit_learn_does_not_leave_its_start_on_such_rows() -> None:
    rows, gold = many(400)
    assert LogisticRegression(C=10.0, tol=1e-2).fit(rows, gold).n_iter_[0] == 0


@pytest.mark.parametrize("weight", [1.0, 1_000.0])
def test_weights_count_as_often_as_rows(weight: float) -> None:
    rows, gold = many(30)
    weights = np.where(gold < 15, 2.0, 1.0)
    twice = sparse.vstack([rows, rows[gold < 15]]).tocsr(), np.concatenate([gold, gold[gold < 15]])
    one = clone(SettledLogistic(10.0 / weight, tol=1e-9)).fit(rows, gold, weights * weight)
    other = SettledLogistic(10.0, tol=1e-9).fit(*twice)
    assert np.allclose(one.coef_, other.coef_, atol=1e-3)


@pytest.mark.parametrize("make", [TFIDF_LOGISTIC.estimator, logistic], ids=["words", "vectors"])
def test_rivals_learn_where_each_feature_of_a_row_is_small(make: Callable[[float], LinearEstimator]) -> None:
    rows, gold = many(400)
    assert (trained(make(30.0), 0.1 * rows, gold).predict(rows) == gold).all()
