from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

from heedful.tasks.sentences.cross_validation import OutOfFold, PartRows
from heedful.tasks.sentences.fitting_wide import FitSetting, Fitter, rising
from heedful.tasks.sentences.linear_fits import LinearFit, fit_linear
from heedful.tasks.sentences.linear_targets import ClassTargets, FlagTargets, NumberTargets
from heedful.tasks.sentences.principal_rows import Rows, TurnedRows

DRAW = np.random.default_rng(0)
X = (DRAW.normal(size=(40, 60)) * (DRAW.random((40, 60)) < 0.3)).astype(np.float32)
NEW = DRAW.normal(size=(9, 60))
CLASSES = DRAW.integers(0, 3, 40)
SHAPES = [X, sparse.csr_matrix(X), X[:, :12]]


@pytest.mark.parametrize("rows", SHAPES, ids=["few rows", "sparse", "few features"])
@pytest.mark.parametrize("turned", [True, False])
def test_fits_are_those_of_scikit_learn(rows: Rows, turned: bool) -> None:
    width = rows.shape[1]
    targets = ClassTargets.of_classes(CLASSES, 3, np.ones(40))
    kept = TurnedRows.turning(rows) if turned else TurnedRows(rows, np.ones(width), lambda weights: weights)
    fitter = Fitter(rows, targets, kept)
    for strength in (0.3, 3.0):
        fit = fitter.fit(FitSetting(strength))
        expected = LogisticRegression(C=strength, tol=1e-8, max_iter=10_000).fit(rows, CLASSES)
        logits = fit.logits(NEW[:, :width])
        logits -= logits.mean(axis=1, keepdims=True)
        assert logits == pytest.approx(expected.decision_function(NEW[:, :width]), abs=0.05)


class Counted(np.ndarray):
    """Rows that note how many columns they are multiplied with."""

    asked: ClassVar[list[int]] = []

    def __matmul__(self, other: np.ndarray) -> np.ndarray:
        self.asked.append(other.shape[1])
        return np.asarray(self) @ other


def test_two_classes_are_fitted_by_products_with_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counted, "asked", [])
    two = CLASSES % 2
    targets = ClassTargets.of_classes(two, 2, np.ones(40))
    turned = TurnedRows.as_is(X.astype(np.float64).view(Counted))
    start = fit_linear(turned, targets, 0.5)
    fit = fit_linear(turned, targets, 3.0, start)
    assert (fit.weights[:, 0] == -fit.weights[:, 1]).all()
    assert Counted.asked.count(2) == 2, "the curvature at the start of each fit reads both columns"
    assert Counted.asked.count(1) > 10
    expected = LogisticRegression(C=3.0 * 2, tol=1e-8, max_iter=10_000).fit(X, two)
    difference = fit.logits(NEW)[:, 1] - fit.logits(NEW)[:, 0]
    assert difference == pytest.approx(expected.decision_function(NEW), abs=0.05)


def test_two_labels_have_weights_of_their_own_and_those_of_two_classes_may_begin_uneven() -> None:
    flags = FlagTargets(np.ones(40), np.stack([CLASSES == 0, CLASSES == 1], axis=1).astype(np.float32))
    turned = TurnedRows.as_is(X.astype(np.float64))
    both = fit_linear(turned, flags, 3.0)
    for column in range(2):
        alone = LogisticRegression(C=3.0, tol=1e-8, max_iter=10_000).fit(X, column == CLASSES)
        assert both.logits(NEW)[:, column] == pytest.approx(alone.decision_function(NEW), abs=0.05)
    targets = ClassTargets.of_classes(CLASSES % 2, 2, np.ones(40))
    uneven = LinearFit(np.ones((60, 2)) * [1.0, 0.5], np.zeros(2))
    fit, other = fit_linear(turned, targets, 3.0, uneven), fit_linear(turned, targets, 3.0)
    found, expected = (np.diff(each.logits(NEW))[:, 0] for each in (fit, other))
    assert found == pytest.approx(expected, abs=0.05)


def test_numbers_are_those_of_ridge_regression() -> None:
    gold = X @ DRAW.normal(size=60)
    fit = Fitter(X, NumberTargets(np.ones(40), gold)).fit(FitSetting(0.5))
    expected = Ridge(alpha=2.0).fit(X.astype(np.float64), gold)
    assert fit.logits(NEW)[:, 0] == pytest.approx(expected.predict(NEW), abs=1e-2)


def test_some_of_the_turned_rows_give_the_fit_of_those_rows_alone() -> None:
    places = np.arange(5, 30)
    targets = ClassTargets.of_classes(CLASSES, 3, np.ones(40)).of(places)
    one = Fitter(X[places], targets, TurnedRows.turning(X).of_some(places)).fit(FitSetting(1.0))
    other = Fitter(X[places], targets).fit(FitSetting(1.0))
    assert one.logits(NEW) == pytest.approx(other.logits(NEW), abs=0.02)


def test_rising_stops_at_the_first_setting_that_is_worse_and_tries_each_kind() -> None:
    losses = {1.0: 3.0, 3.0: 2.0, 10.0: 2.5, 30.0: 0.0}
    settings = [FitSetting(c) for c in losses] + [
        FitSetting(c, True, s) for c in (1.0, 3.0) for s in (1.0, 0.5)
    ]
    tried = rising(settings, lambda setting: losses[setting.strength])
    assert tried == (*map(FitSetting, (1.0, 3.0, 10.0)), *settings[4:])


def test_rows_without_any_value_have_weights_of_zero() -> None:
    targets = ClassTargets.of_classes(CLASSES, 3, np.ones(40))
    fit = Fitter(np.zeros((40, 60)), targets).fit(FitSetting(1.0))
    assert not fit.weights.any()
    assert fit.weights.shape == (60, 3)


@pytest.mark.parametrize("folds", [[0] * 6, [0, 0, 0, 1, 1, 1]], ids=["one text", "a text for each class"])
def test_where_no_fold_can_judge_the_examples_themselves_weigh_the_parts(folds: list[int]) -> None:
    targets = ClassTargets.of_classes(np.array([0, 0, 0, 1, 1, 1]), 2, np.ones(6))
    rows = np.eye(2)[[0, 0, 0, 1, 1, 1]]
    part = PartRows("rows", rows, (FitSetting(1.0), FitSetting(3.0)), lambda about, fit, weight: about)
    found = OutOfFold.of([[part]], targets, np.array(folds))
    assert not found.judges
    assert found.joining().join(None).weights["rows"] > 0
    assert np.ptp(found.nested()[0], axis=0) == pytest.approx(0)
    assert OutOfFold.of([[part]], targets, np.array([0, 1, 2, 0, 1, 2])).judges
