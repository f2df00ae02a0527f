"""Confidence intervals and tests of two systems: the paired bootstrap, McNemar's test, the paired t-test.

NumPy draws the random numbers, and SciPy provides the distributions. Everything is a pure function of its arguments,
including the seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UsageError, check_known
from heedful.evaluation.statistics import (
    STATISTICS,
    Statistic,
    Values,
    means,
    percentiles,
    resampled,
    resampled_counts,
    whole,
)
from heedful.tables import figure

LEVEL = 0.95
RESAMPLES = 10_000


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes:
        low: lower end.
        high: upper end.
        level: confidence level, the share of such intervals that contain the true value.
        method: how it was computed.
    """

    low: float
    high: float
    method: str
    level: float = LEVEL

    def __str__(self) -> str:
        return f"[{figure(self.low)}, {figure(self.high)}]"


@dataclass(frozen=True)
class Comparison:
    """Two systems on one metric.

    Attributes:
        test: the test, in words; empty for none.
        n: number of pairs.
        unit: the unit of a pair: "examples" or "runs".
        first: the metric of the first system.
        second: of the second.
        difference: second minus first.
        interval: interval of the difference; None if the test has none.
        p: two-sided p-value; None if there are too few pairs to test.
        note: a note for the reader; may be empty.
        counts: the counts of an exact test; empty for other tests.
    """

    test: str
    n: int
    unit: str
    first: float
    second: float
    difference: float
    interval: Interval | None
    p: float | None
    note: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def accuracy_interval(right: int, n: int, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval of a share (Wilson, JASA 1927).

    Unlike the normal interval it stays inside 0 to 1 and has a width when every answer is right; unlike the bootstrap
    it needs no resampling.

    Args:
        right: number of right answers.
        n: number of answers, at least 1.
        level: of confidence.

    Returns:
        The interval.
    """
    from scipy.stats import binomtest

    found = binomtest(right, n).proportion_ci(level, method="wilson")
    return Interval(float(found.low), float(found.high), "Wilson", level)


def bootstrap_interval(
    metric: str | Statistic,
    gold: ArrayLike,
    predicted: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
    times: ArrayLike | None = None,
) -> Interval:
    """Return the percentile bootstrap interval of a metric, examples resampled (Efron and Tibshirani, 1993).

    Args:
        metric: its name (a key of `STATISTICS`), or a function of weighted copies (`Statistic`).
        gold: [N], at least 2.
        predicted: [N].
        resamples: how many.
        seed: of the resampling.
        level: of confidence.
        times: how often each example occurs, [N]; None for once. Examples that are counted in this way are drawn by
            the multinomial distribution of their counts, which is the same bootstrap with other random numbers.

    Returns:
        The interval. `accuracy_interval` is the better one for accuracy.

    Raises:
        UsageError: if the two differ in length, or the metric is unknown.
    """
    statistic = _statistic(metric)
    gold, predicted = _aligned(gold, predicted, least=2 if times is None else 1)
    if times is None:
        (drawn,) = resampled(statistic, gold, [predicted], resamples, seed)
    else:
        drawn = resampled_counts(statistic, gold, predicted, np.asarray(times), resamples, seed)
    return Interval(*percentiles(drawn, level), f"percentile bootstrap, {resamples:,} resamples", level)


_SAMPLES = 20
"""Of the little bootstraps."""


def little_bootstraps(
    metric: str | Statistic,
    gold: ArrayLike,
    predicted: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of a metric of many examples from small samples (Kleiner et al., JRSS B 2014).

    From each of 20 random samples of n^0.7 examples, resamples of the size n are drawn, as counts. The differences
    between their metrics and the metric of their sample estimate the error of a metric of n examples. The paper makes
    one interval from each sample and averages the ends; here the differences of all samples make one interval around
    the metric of all examples. Errors are those of `bootstrap_interval`.

    Args:
        metric: as for `bootstrap_interval`.
        gold: true class ids, [N].
        predicted: predicted class ids, [N].
        resamples: how many in all, over the 20 samples.
        seed: of the samples and the resamples.
        level: coverage of the interval.

    Returns:
        The interval, in the time and memory of the samples.
    """
    statistic, (gold, predicted) = _statistic(metric), _aligned(gold, predicted)
    n, random, drawn = len(gold), np.random.default_rng(seed), list[NDArray[np.float64]]()
    size = max(2, round(n**0.7))
    for _ in range(_SAMPLES):
        rows = random.choice(n, size, replace=False, shuffle=False)
        ones = np.ones(size, np.int64)
        draw, most = int(random.integers(1 << 31)), math.ceil(resamples / _SAMPLES)
        own = resampled_counts(statistic, gold[rows], predicted[rows], ones, most, draw, n)
        drawn.append(own - whole(statistic, gold[rows], predicted[rows]))
    low, high = percentiles(np.concatenate(drawn) + whole(statistic, gold, predicted), level)
    method = f"little bootstraps, {_SAMPLES} samples of {size:,} examples, {resamples:,} resamples"
    return Interval(low, high, method, level)


def paired_bootstrap(
    metric: str | Statistic,
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Comparison:
    """Compare two systems that answered the same examples (Koehn, EMNLP 2004).

    Each resample draws examples, and both systems are measured on it. The two-sided p is twice the smaller share of
    resamples whose difference lies on one side of zero, one resample added, so that it is never 0; it falls below
    1 - level just about where the percentile interval leaves zero out.

    Args:
        metric: its name, or a function of weighted copies (`Statistic`).
        gold: [N], at least 2.
        first: answers of the first system, [N]; or of several runs of it, [S, N], whose metrics are averaged.
        second: answers of the second, likewise.
        resamples: how many.
        seed: of the resampling.
        level: of confidence.

    Returns:
        The comparison; its difference is second minus first.

    Raises:
        UsageError: if the lengths differ, or the metric is unknown.
    """
    statistic, (gold, first, second) = _statistic(metric), _aligned(gold, first, second)

    runs = [*np.atleast_2d(first), *np.atleast_2d(second)]
    split = len(np.atleast_2d(first))
    a, b = means([whole(statistic, gold, run) for run in runs], split)
    drawn_1, drawn_2 = means(resampled(statistic, gold, runs, resamples, seed), split)
    drawn = drawn_2 - drawn_1
    one_side = min(int(np.sum(drawn <= 0)), int(np.sum(drawn >= 0)))
    method = f"paired bootstrap, {resamples:,} resamples"
    return Comparison(
        method,
        len(gold),
        "examples",
        float(a),
        float(b),
        float(b - a),
        Interval(*percentiles(drawn, level), method, level),
        min(1.0, 2 * (one_side + 1) / (resamples + 1)),
    )


def mcnemar(gold: ArrayLike, first: ArrayLike, second: ArrayLike) -> Comparison:
    """Compare the accuracy of two classifiers by McNemar's exact test (McNemar 1947; Dietterich 1998).

    Only the examples that one of them gets right and the other wrong count: under no difference each falls to either
    side like a coin.

    Args:
        gold: class numbers, [N].
        first: answers of the first system, [N].
        second: answers of the second, [N].

    Returns:
        The comparison, without an interval; p is 1 where the two never differ.

    Raises:
        UsageError: if the lengths differ.
    """
    from scipy.stats import binomtest

    gold, first, second = _aligned(gold, first, second, least=1)
    right_1, right_2 = first == gold, second == gold
    only_1, only_2 = int(np.sum(right_1 & ~right_2)), int(np.sum(right_2 & ~right_1))
    p = float(binomtest(only_1, only_1 + only_2).pvalue) if only_1 + only_2 else 1.0
    a, b = float(np.mean(right_1)), float(np.mean(right_2))
    counts = {"only the first right": only_1, "only the second right": only_2}
    return Comparison("exact McNemar", len(gold), "examples", a, b, b - a, None, p, counts=counts)


def paired(
    metric: str,
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    weights: NDArray[np.float64] | None = None,
) -> Comparison:
    """Compare two systems by McNemar's test of accuracy, and by the paired bootstrap of any other metric.

    Args:
        metric: its name.
        gold: [N].
        first: answers of the first system, [N].
        second: answers of the second, [N].
        weights: how much each example counts, [N]; None for all alike. No test takes examples of different weight, so
            that with them there is none, nor an interval or a p-value.

    Returns:
        The comparison.
    """
    if weights is not None:
        gold, first, second = _aligned(gold, first, second, least=1)
        a, b = (whole(STATISTICS[metric], gold, each, weights) for each in (first, second))
        note = "rows count by their weights, and the tests take rows that count alike"
        return Comparison("", len(weights), "examples", a, b, b - a, None, None, note)
    if metric == "accuracy":
        return mcnemar(gold, first, second)
    return paired_bootstrap(metric, gold, first, second, resamples=1_000)


def paired_seeds(first: Sequence[float], second: Sequence[float], level: float = LEVEL) -> Comparison:
    """Compare two systems over runs with the same seeds or folds by the paired t-test.

    It speaks of the training, seeds and all; the tests over examples speak of two trained models.

    Args:
        first: the metric of each run of the first system.
        second: of the second, in the same order of seeds.
        level: of confidence.

    Returns:
        The comparison of the means. Without an interval and p for one pair, and for differences that are all equal.

    Raises:
        UsageError: if the lengths differ, or there is none.
    """
    from scipy.stats import ttest_rel

    a, b = _aligned(first, second, least=1)
    n, difference = len(a), float(np.mean(b) - np.mean(a))
    interval, p, note = None, None, ""
    if n < 2:
        note = "one run each: nothing is known of the spread"
    elif np.ptp(b - a) <= 1e-12 * max(1.0, float(np.abs(b - a).max())):
        p = 1.0 if difference == 0 else None
        note = "the difference is the same in every pair: no spread to test against"
    else:
        found = ttest_rel(b, a)
        ends, p = found.confidence_interval(level), float(found.pvalue)
        interval = Interval(float(ends.low), float(ends.high), "Student's t", level)
        note = "two runs each: the interval is hardly more than a guess" if n < 3 else ""
    return Comparison(
        "paired t-test", n, "runs", float(np.mean(a)), float(np.mean(b)), difference, interval, p, note
    )


def _statistic(metric: str | Statistic) -> Statistic:
    if not isinstance(metric, str):
        return metric
    check_known(metric, STATISTICS, f"metric: there is no {metric!r}")
    return STATISTICS[metric]


def _aligned(*columns: ArrayLike, least: int = 2) -> tuple[Values, ...]:
    arrays = tuple(np.asarray(column) for column in columns)
    lengths = [array.shape[-1] for array in arrays]
    if len(set(lengths)) > 1:
        raise UsageError(f"answers must be of the same examples; got columns of {lengths}")
    if lengths[0] < least:
        raise UsageError(f"there must be at least {least} examples; got {lengths[0]}")
    if not all(np.all(np.isfinite(array)) for array in arrays if array.dtype.kind == "f"):
        raise UsageError("answers must be finite numbers")
    return arrays


def describe_p(p: float | None) -> str:
    """Write a p-value for a reader: two digits that mean something, never ``p = 0.0000``."""
    if p is None or math.isnan(p):
        return "p not known"
    return f"p = {p:.3f}" if p >= 0.001 else f"p = {p:.1e}"
