"""Conformal scores and thresholds: against MAPIE, and against the formulas written out."""

import math

import numpy as np
import pytest

from heedful.model.decisions.conformal import (
    FREE,
    PRICE,
    class_thresholds,
    oddness,
    share_threshold,
    threshold,
)


def drawn(rows: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and gold that is drawn from sharper ones."""
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(classes, 0.4), rows)
    gold = np.array([generator.choice(classes, p=row**1.3 / (row**1.3).sum()) for row in shares])
    return shares, gold


class NothingDrawn:
    """Draws zeros."""

    def uniform(self, size):
        return np.zeros(size)


class Given:
    """A fitted classifier of scikit-learn's interface whose input is its answer."""

    def __init__(self, classes: int) -> None:
        self.classes_ = np.arange(classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return np.asarray(X).argmax(axis=1)

    def __sklearn_is_fitted__(self):
        return True


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("method", ["lac", "aps"])
def test_sets_are_those_of_mapie(method: str, coverage: float, monkeypatch) -> None:
    mapie = pytest.importorskip("mapie.classification")
    # its APS draws how much of the last probability counts; ours takes all of it
    monkeypatch.setattr("mapie.conformity_scores.sets.aps.check_random_state", lambda seed: NothingDrawn())
    shares, gold = drawn(400, 6)
    new, _ = drawn(300, 6, 1)
    peer = mapie.SplitConformalClassifier(
        Given(6), confidence_level=coverage, conformity_score=method, prefit=True
    ).conformalize(shares, gold)
    # deterministic APS: a class is in the set if the sum up to it does not exceed the threshold
    params = {"include_last_label": False} if method == "aps" else {}
    _, sets = peer.predict_set(new, conformity_score_params=params)
    limit = threshold(oddness(shares, method)[np.arange(400), gold], coverage)
    own = oddness(new, method) <= limit
    if method == "aps":  # MAPIE never leaves a set empty
        own[np.arange(300), new.argmax(axis=1)] = True
    assert np.array_equal(own, sets[:, :, 0])


def test_intervals_are_those_of_mapie() -> None:
    mapie = pytest.importorskip("mapie.regression")
    from sklearn.base import BaseEstimator, RegressorMixin

    class Same(RegressorMixin, BaseEstimator):
        fitted_ = True

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.asarray(X)[:, 0]

        def __sklearn_is_fitted__(self):
            return True

    generator = np.random.default_rng(0)
    given = generator.normal(size=(200, 1))
    gold = given[:, 0] + generator.normal(size=200)
    peer = mapie.SplitConformalRegressor(Same(), confidence_level=0.9, prefit=True).conformalize(given, gold)
    _points, ends = peer.predict_interval(np.zeros((1, 1)))
    limit = threshold(np.abs(gold - given[:, 0]), 0.9)
    assert np.allclose(ends[0, :, 0], [-limit, limit])


def test_scores_are_the_formulas() -> None:
    shares = np.array([[0.5, 0.1, 0.4]])
    assert np.allclose(oddness(shares, "lac"), [[0.5, 0.9, 0.6]])
    assert np.allclose(oddness(shares, "aps"), [[0.5, 1.0, 0.9]])
    many = np.sort(drawn(1, 20)[0])[:, ::-1]
    price = [PRICE * max(0, rank - FREE) for rank in range(1, 21)]
    assert np.allclose(oddness(many, "raps"), np.cumsum(many, axis=1) + price)
    assert np.allclose(oddness(np.array([[0.5, 0.5]]), "aps"), [[0.5, 1.0]])


def test_threshold_is_the_rank_that_covers() -> None:
    scores = np.arange(1.0, 10.0)
    assert threshold(scores, 0.9) == 9.0  # ceil(10 * 0.9) of 9
    assert threshold(scores, 0.5) == 5.0
    assert math.isinf(threshold(scores, 0.91))
    assert math.isinf(threshold(np.zeros(0), 0.5))


def test_each_class_has_its_own_threshold() -> None:
    scores, gold = np.array([0.1, 0.2, 0.3, 0.9]), np.array([0, 0, 0, 1])
    assert class_thresholds(scores, gold, 3, 0.7).tolist() == [0.3, math.inf, math.inf]


@pytest.mark.parametrize("method", ["lac", "aps", "raps"])
def test_sets_hold_the_right_class_as_often_as_asked(method: str) -> None:
    held = []
    for seed in range(20):
        shares, gold = drawn(600, 5, seed)
        own = oddness(shares, method)[np.arange(600), gold]
        held.append((own[300:] <= threshold(own[:300], 0.85)).mean())
    assert 0.845 <= np.mean(held) <= 0.88


@pytest.mark.parametrize("coverage", [0.6, 0.9, 0.99, 0.9999])
def test_share_threshold_is_the_highest_that_misses_little(coverage: float) -> None:
    generator = np.random.default_rng(3)
    shares = generator.random((150, 7)).round(2)  # with ties
    gold = generator.random((150, 7)) < shares * 0.5
    limit = share_threshold(shares, gold, coverage)

    def bound(level: float) -> float:
        sizes = np.maximum(gold.sum(axis=1), 1)
        return float(((gold & (shares < level)).sum(axis=1) / sizes).sum() + 1) / 151

    assert limit == 0 or bound(limit) <= 1 - coverage + 1e-9
    higher = [level for level in np.unique(shares[gold]) if level > limit]
    assert all(bound(level) > 1 - coverage for level in higher)


def test_rows_count_by_their_weights():
    scores, weights = np.arange(1.0, 10.0), np.ones(9)
    for coverage in (0.1, 0.5, 0.9, 0.91):
        assert threshold(scores, coverage, weights * 7) == threshold(scores, coverage)
    weights[:3] = 50  # now most of the weight has small scores
    assert threshold(scores, 0.5, weights) <= 3.0 < threshold(scores, 0.5)
    gold = np.array([0, 1] * 4 + [0])
    by_class = class_thresholds(scores, gold, 2, 0.5, weights)
    assert by_class.tolist() == [threshold(scores[gold == k], 0.5, weights[gold == k]) for k in (0, 1)]
    shares, right = np.linspace(0.1, 0.9, 9)[:, None], np.ones((9, 1), bool)
    assert share_threshold(shares, right, 0.5, np.ones(9)) == share_threshold(shares, right, 0.5)
    assert share_threshold(shares, right, 0.5, weights) < share_threshold(shares, right, 0.5)
