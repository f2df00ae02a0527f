"""Calibration by hand, and a temperature that is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from heedful.evaluation.calibration import BINS, calibration, fit_temperature, reliability


def _logits_of(confidences: list[float]) -> np.ndarray:
    """Return logits of two classes; class 0 has these probabilities."""
    p = np.array(confidences)
    return np.stack([np.log(p), np.log(1 - p)], axis=1)


def _honest(n: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw gold from the softmax of logits, and return the logits times a scale."""
    random = np.random.default_rng(0)
    logits = random.normal(size=(n, 3)) * 2
    gumbel = -np.log(-np.log(random.random(logits.shape)))
    return scale * logits, (logits + gumbel).argmax(axis=1)


def test_ece_by_hand() -> None:
    found = reliability(_logits_of([0.9, 0.9, 0.9, 0.65]), np.array([0, 1, 1, 0]))
    assert found.ece == pytest.approx((3 * abs(1 / 3 - 0.9) + 1 * abs(1.0 - 0.65)) / 4)
    assert found.nll == pytest.approx(-np.log([0.9, 0.1, 0.1, 0.65]).mean())
    assert [(part.count, part.accuracy) for part in found.bins] == [(1, 1.0), (3, 1 / 3)]
    for part in found.bins:
        assert part.low < part.confidence <= part.high == pytest.approx(part.low + 1 / BINS)


def test_bins_are_fifteenths_and_hold_their_upper_end() -> None:
    assert BINS == 15
    found = reliability(_logits_of([0.9, 0.65]), np.array([0, 0]))
    assert [(part.low, part.high) for part in found.bins] == [(9 / 15, 10 / 15), (13 / 15, 14 / 15)]
    (third,) = reliability(np.zeros((1, 3)), np.array([0])).bins  # a confidence of 5 / 15
    assert (third.low, third.high) == (4 / 15, 5 / 15)


def test_certain_answers_are_in_the_last_bin() -> None:
    found = reliability(np.array([[900.0, 0.0], [0.0, 900.0]]), np.array([0, 1]))
    assert found.ece == 0.0
    assert [part.high for part in found.bins] == [1.0]


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0, 100.0])
def test_the_temperature_that_spoilt_honest_logits_is_found(scale: float) -> None:
    logits, gold = _honest(20_000, scale)
    assert fit_temperature(logits, gold) == pytest.approx(scale, rel=0.03)


def test_the_temperature_minimizes_the_loss() -> None:
    logits, gold = _honest(50, 4.0)
    tried = np.exp(np.linspace(-2, 3, 2001))
    losses = [-log_softmax(logits / t, axis=1)[np.arange(50), gold].mean() for t in tried]
    assert fit_temperature(logits, gold) == pytest.approx(tried[np.argmin(losses)], rel=0.01)


def test_nothing_is_fitted_where_every_answer_is_right_or_there_is_none() -> None:
    assert fit_temperature(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0, 1])) == 1.0
    assert fit_temperature(np.empty((0, 3)), np.empty(0, np.int64)) == 1.0


def test_calibration_before_and_after() -> None:
    logits, gold = _honest(5_000, 3.0)
    found = calibration(logits, gold, 3.0)
    assert found.after.ece < 0.03 < found.before.ece
    assert found.after.nll < found.before.nll
    same = calibration(logits, gold, 1.0)
    assert same.before == same.after == found.before
    assert found.as_dict()["after"]["bins"][0].keys() == {"low", "high", "count", "confidence", "accuracy"}
