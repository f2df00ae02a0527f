"""Intervals and tests against known values, brute force, SciPy and scikit-learn."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from heedful.errors import UsageError
from heedful.evaluation import classification_metrics, relatedness_metrics, statistics
from heedful.evaluation.significance import (
    Interval,
    accuracy_interval,
    bootstrap_interval,
    describe_p,
    mcnemar,
    paired,
    paired_bootstrap,
    paired_seeds,
)
from heedful.evaluation.statistics import STATISTICS, resampled


def _classes(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    gold = random.integers(0, 4, n)
    return gold, np.where(random.random(n) < 0.7, gold, random.integers(0, 5, n))


def _weights(rows: np.ndarray) -> np.ndarray:
    """Count how often each example is in each resample, given as positions."""
    return np.stack([np.bincount(row, minlength=rows.shape[1]) for row in rows]).astype(float)


def test_metrics_of_weighted_copies_are_those_of_the_libraries() -> None:
    random = np.random.default_rng(0)
    gold, predicted = _classes(1)
    rows = random.integers(0, len(gold), (20, len(gold)))
    weights = _weights(rows)
    for name in ("accuracy", "macro_f1"):
        expected = [classification_metrics(gold[row], predicted[row])[name] for row in rows]
        np.testing.assert_allclose(STATISTICS[name](gold, predicted, weights), expected)
    scores = np.round(random.random((2, 40)) * 9) / 2  # with ties
    for name in ("pearson", "spearman", "mse"):
        expected = [relatedness_metrics(scores[0][row], scores[1][row])[name] for row in rows]
        np.testing.assert_allclose(STATISTICS[name](scores[0], scores[1], weights), expected)


def test_a_class_that_a_copy_lacks_does_not_count_in_it() -> None:
    classes = np.array([0, 1, 2])
    assert STATISTICS["macro_f1"](classes, classes, np.array([[1.0, 2.0, 0.0]])).tolist() == [1.0]


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_a_constant_has_no_correlation(name: str) -> None:
    scores = np.array([1.1, 2.3, 4.7])
    found = STATISTICS[name](scores, scores, np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 0.0]]))
    assert found.tolist() == [pytest.approx(1.0), 0.0]


def test_wilson_by_hand() -> None:
    z, n, share = stats.norm.ppf(0.975), 20, 0.9
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    found = accuracy_interval(18, 20)
    assert (found.low, found.high) == pytest.approx((center - half, center + half))
    perfect = accuracy_interval(20, 20)
    assert perfect.high == 1.0
    assert 0.8 < perfect.low < 0.9


def test_bootstrap_interval_against_every_resample() -> None:
    gold, predicted = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 0])
    every = np.array(list(product(range(5), repeat=5)))
    exact = np.quantile(STATISTICS["macro_f1"](gold, predicted, _weights(every)), [0.025, 0.975])
    found = bootstrap_interval("macro_f1", gold, predicted, resamples=20_000)
    assert (found.low, found.high) == pytest.approx(tuple(exact), abs=0.02)


def test_bootstrap_is_a_function_of_its_seed() -> None:
    gold, predicted = _classes(2)
    again = [bootstrap_interval("macro_f1", gold, predicted, resamples=300, seed=seed) for seed in (5, 5, 6)]
    assert again[0] == again[1] != again[2]
    paired = [
        paired_bootstrap("accuracy", gold, predicted, gold, resamples=300, seed=seed) for seed in (5, 5, 6)
    ]
    assert paired[0] == paired[1] != paired[2]


def test_a_block_of_resamples_goes_on_where_the_one_before_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    gold, answer = np.random.default_rng(0).normal(size=(2, 40))

    def drawn() -> np.ndarray:
        return resampled(STATISTICS["mse"], gold, [answer], resamples=30, seed=5)[0]

    at_once = drawn()
    assert len(set(at_once.round(12))) == 30
    monkeypatch.setattr(statistics, "_CELLS", 7 * len(gold))  # blocks of seven
    np.testing.assert_allclose(drawn(), at_once)


def _intervals(level: float) -> list[Interval | None]:
    """Return an interval of each kind."""
    gold, first = _classes(6)
    _, second = _classes(7)
    return [
        accuracy_interval(15, 20, level),
        bootstrap_interval("accuracy", gold, first, resamples=999, level=level),
        paired_bootstrap("accuracy", gold, first, second, resamples=999, level=level).interval,
        paired_seeds([0.80, 0.82, 0.81], [0.83, 0.84, 0.85], level).interval,
    ]


def test_intervals_are_of_the_level_asked_for() -> None:
    for narrow, wide in zip(_intervals(0.5), _intervals(0.95), strict=True):
        assert narrow is not None
        assert wide is not None
        assert (narrow.level, wide.level) == (0.5, 0.95)
        assert wide.low < narrow.low < narrow.high < wide.high


def test_paired_bootstrap_against_the_exact_distribution() -> None:
    # 12 of 60 differ: 9 to the second's gain, 3 to its loss. The difference over resamples is a known sum of draws.
    gold, first, second = np.zeros(60, int), np.zeros(60, int), np.zeros(60, int)
    first[:9], second[9:12] = 1, 1
    found = paired_bootstrap("accuracy", gold, first, second, resamples=20_000)
    gains = np.ones(1)
    for _ in range(60):
        gains = np.convolve(gains, [3 / 60, 48 / 60, 9 / 60])
    at = np.arange(-60, 61) / 60
    exact = 2 * min(gains[at <= 0].sum(), gains[at >= 0].sum())
    assert found.difference == pytest.approx(0.1)
    assert found.p == pytest.approx(exact, abs=0.01)
    low, high = (at[np.searchsorted(np.cumsum(gains), q)] for q in (0.025, 0.975))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1 / 60)


def test_p_is_never_zero() -> None:
    gold = np.ones(50, int)
    assert paired_bootstrap("accuracy", gold, 1 - gold, gold, resamples=99).p == pytest.approx(2 / 100)


def test_the_same_answers_do_not_differ() -> None:
    gold, predicted = _classes(3)
    found = paired_bootstrap("macro_f1", gold, predicted, predicted, resamples=100)
    assert (found.difference, found.p) == (0.0, 1.0)
    assert mcnemar(gold, predicted, predicted).p == 1.0


def _mean_gap(gold: np.ndarray, predicted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.asarray(weights @ np.abs(gold - predicted) / weights.sum(axis=1))


def test_paired_bootstrap_takes_any_function() -> None:
    gold = np.random.default_rng(0).normal(size=80)
    near, far = gold + 0.1, gold + np.linspace(-2, 2, 80)
    found = paired_bootstrap(_mean_gap, gold, far, near, resamples=500)
    assert found.difference < 0
    assert found.p is not None
    assert found.p < 0.01
    assert paired_bootstrap("pearson", gold, far, near, resamples=500).difference > 0


def test_runs_of_a_system_are_averaged() -> None:
    gold, one = _classes(4)
    _, two = _classes(5)
    several = paired_bootstrap("macro_f1", gold, [one, two], [two, gold], resamples=200)
    parts = [classification_metrics(gold, answers)["macro_f1"] for answers in (one, two)]
    assert several.first == pytest.approx(np.mean(parts))
    assert several.second == pytest.approx((parts[1] + 1) / 2)
    doubled = paired_bootstrap("macro_f1", gold, [one, one], [two, two], resamples=200)
    assert doubled.p == paired_bootstrap("macro_f1", gold, one, two, resamples=200).p


def test_mcnemar_by_hand() -> None:
    gold = np.ones(30, int)
    first, second = gold.copy(), gold.copy()
    first[:10], second[10:12], first[20], second[20] = 0, 0, 0, 0
    found = mcnemar(gold, first, second)
    assert found.counts == {"only the first right": 2, "only the second right": 10}
    assert found.p == pytest.approx(2 * sum(math.comb(12, k) for k in range(3)) / 2**12)
    assert found.difference == pytest.approx(8 / 30)


def test_paired_seeds_by_hand() -> None:
    first, second = [0.80, 0.82, 0.81], [0.83, 0.84, 0.85]
    gap = np.subtract(second, first)
    t = gap.mean() / (gap.std(ddof=1) / math.sqrt(3))
    found = paired_seeds(first, second)
    assert found.p == pytest.approx(2 * stats.t.sf(t, 2))
    half = stats.t.ppf(0.975, 2) * gap.std(ddof=1) / math.sqrt(3)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((gap.mean() - half, gap.mean() + half))
    assert (found.n, found.unit, found.note) == (3, "runs", "")


@pytest.mark.parametrize(
    ("first", "second", "p", "note"),
    [
        ([0.8], [0.9], None, "one run"),
        ([0.8, 0.7], [0.9, 0.8], None, "no spread"),
        ([0.8, 0.7], [0.8, 0.7], 1.0, "no spread"),
        ([0.8, 0.7], [0.9, 0.9], pytest.approx(0.2048, abs=1e-4), "two runs"),
    ],
)
def test_too_few_seeds_are_said(first: list[float], second: list[float], p: float | None, note: str) -> None:
    found = paired_seeds(first, second)
    assert found.p == p
    assert note in found.note


def test_mistakes_are_named() -> None:
    with pytest.raises(UsageError, match="same examples"):
        paired_bootstrap("accuracy", [0, 1, 1], [0, 1, 1], [0, 1])
    with pytest.raises(UsageError, match="did you mean 'pearson'"):
        bootstrap_interval("person", [0, 1], [0, 1])
    with pytest.raises(UsageError, match="at least 2"):
        bootstrap_interval("mse", [0], [0])
    with pytest.raises(UsageError, match="finite"):
        bootstrap_interval("mse", [0.0, np.nan], [0.0, 1.0])


def test_p_is_never_printed_as_zero() -> None:
    assert [describe_p(p) for p in (0.0312, 0.0002, None)] == ["p = 0.031", "p = 2.0e-04", "p not known"]


def test_rows_of_different_weight_have_figures_and_no_test() -> None:
    gold, first, second = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 1]), np.array([1, 1, 1, 1])
    found = paired("accuracy", gold, first, second, np.array([3.0, 1.0, 4.0, 0.0]))
    assert (found.first, found.second, found.difference, found.n) == (0.5, 0.625, 0.125, 4)
    assert (found.test, found.p, found.interval) == ("", None, None)
    with pytest.raises(UsageError, match="same examples"):
        paired("accuracy", gold, first[:3], second, np.ones(4))
