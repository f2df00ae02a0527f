"""When no class fits: weights of examples reach the signals, their weights and the threshold."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.tasks.sentences.fitting_reject import Known, fit_reject


def test_a_weight_is_so_many_rows() -> None:
    draw = np.random.default_rng(0)
    known, strangers = draw.normal(size=(200, 4)), draw.normal(1.0, size=(50, 4))
    weights = draw.integers(1, 4, 200).astype(float)
    one = fit_reject(known, strangers, "none", 0.9, "", weights)
    other = fit_reject(np.repeat(known, weights.astype(int), axis=0), strangers, "none", 0.9, "")
    for name in ("means", "deviations", "weights"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-6)
    assert one.threshold == pytest.approx(other.threshold, abs=0.1)
    heavy = np.where(known.sum(axis=1) > 0, 9.0, 0.1)
    alike = fit_reject(known, strangers, "none", 0.9, "", np.full(200, 3.0))
    plain = fit_reject(known, strangers, "none", 0.9, "")
    assert fit_reject(known, strangers, "none", 0.9, "", heavy).means != plain.means
    np.testing.assert_allclose(alike.weights, plain.weights, atol=1e-9)
    assert alike.threshold == pytest.approx(plain.threshold)
    with pytest.raises(UsageError, match=r"at least 19 rows.*there are 3"):
        fit_reject(known[:3], None, "none", 0.95, "")


def test_words_of_examples_of_weight_0_are_new() -> None:
    words = [[["a", "b"]], [["c"]], [["d"]]]
    vectors = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    known = Known(
        words, vectors, np.array([0, 0, 1]), 2, SimpleNamespace(width=2), np.array([1, 0, 1], np.float32)
    )
    assert len(known.familiar().words) == 3
    assert known.familiar().centers[0].tolist() == [1.0, 0.0]
    seen = known.signals(np.array([1]), np.array([0, 1, 2]), without=False)
    assert seen[0, 1] == 1.0
