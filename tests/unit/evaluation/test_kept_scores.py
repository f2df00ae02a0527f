"""Scores that came in blocks have the figures of the whole, and intervals like those of the bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.evaluation import bootstrap_interval, evaluate_scores
from heedful.evaluation.metrics import number_metrics
from heedful.evaluation.significance import little_bootstraps
from heedful.evaluation.streaming_reports import KeptScores

N = 8_000


@pytest.fixture(scope="module")
def scores() -> tuple[np.ndarray, np.ndarray]:
    """Scores with ties, and predictions whose errors have heavy tails."""
    random = np.random.default_rng(5)
    gold = np.round(random.gamma(2, 2, N), 1).astype(np.float32)
    return gold, gold * 0.8 + random.standard_t(6, N)


def test_blocks_have_the_figures_of_the_whole(scores) -> None:
    gold, predicted = scores
    random = np.random.default_rng(6)
    names, lengths = random.choice(["film", "", "song", "a film"], N), random.geometric(0.04, (N, 2))
    whole = evaluate_scores(
        gold.astype(np.float64), predicted, groups=list(names), lengths=lengths, metrics=number_metrics
    )
    kept = KeptScores()
    for rows in np.array_split(np.arange(N), 7):
        known, codes = np.unique(names[rows][::-1], return_inverse=True)  # other numbers in each block
        order = random.permutation(len(known))
        kept.add(
            gold[rows],
            predicted[rows],
            np.argsort(order)[codes[::-1]].astype(np.int32),
            [str(name) for name in known[order]],
            lengths[rows],
        )
    blocks = kept.report(number_metrics)
    for name in ("count", "metrics", "by_group", "by_length"):
        assert getattr(blocks, name) == getattr(whole, name), name  # to the last bit
        if name != "count":
            assert list(getattr(blocks, name)) == list(getattr(whole, name)), name
    assert blocks.as_dict().keys() == whole.as_dict().keys()
    assert blocks.intervals.keys() == blocks.metrics.keys()


def test_one_group_is_no_breakdown() -> None:
    kept = KeptScores()
    kept.add(np.ones(3, np.float32), np.ones(3), np.zeros(3, np.int32), ["film"], np.ones((3, 1), np.int64))
    assert kept.report(number_metrics).by_group == {}


@pytest.mark.parametrize("metric", ["r2", "pearson", "spearman", "mse", "mae"])
def test_little_bootstraps_agree_with_the_bootstrap(scores, metric: str) -> None:
    """An end of 1,000 resamples is known to 0.09 standard errors, and their width to some percent."""
    gold, predicted = scores
    usual = bootstrap_interval(metric, gold, predicted, resamples=1_000)
    little = little_bootstraps(metric, gold, predicted, resamples=1_000)
    error = (usual.high - usual.low) / (2 * 1.96)
    assert abs(little.low - usual.low) < 0.5 * error
    assert abs(little.high - usual.high) < 0.5 * error
    assert little.method == "little bootstraps, 20 samples of 540 examples, 1,000 resamples"
