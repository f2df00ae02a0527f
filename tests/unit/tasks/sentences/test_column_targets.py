"""Gold of label columns for linear parts: its slopes and curvatures are those of its loss, and gaps add nothing."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.tasks.sentences.linear_targets import ColumnTargets

PLACES = (np.array([0, 2]), np.array([1, 3, 4]))
SHARES = np.array([[1, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 1], [1, 1, 0, 0, 0]], float)
GOLD = ColumnTargets(np.ones(4), SHARES, PLACES)
LOGITS = np.random.default_rng(0).normal(size=(4, 5))


def test_slopes_and_curvatures_are_derivatives_of_the_loss() -> None:
    for place in range(5):
        step = 1e-4 * np.eye(5)[place]
        above, here, below = (GOLD.losses(LOGITS + move) for move in (step, 0 * step, -step))
        assert GOLD.slopes(LOGITS)[:, place] == pytest.approx((above - below) / 2e-4, abs=1e-7)
        assert GOLD.curvatures(LOGITS)[:, place] == pytest.approx((above - 2 * here + below) / 1e-8, abs=1e-5)


def test_a_column_without_a_class_adds_nothing() -> None:
    changed = LOGITS.copy()
    changed[1, [1, 3, 4]] += 7 * np.arange(3)
    changed[2, [0, 2]] -= 5 * np.arange(2)
    assert GOLD.losses(changed) == pytest.approx(GOLD.losses(LOGITS))
    assert not GOLD.slopes(LOGITS)[1, [1, 3, 4]].any()
    smooth = GOLD.smoothed().shares
    assert smooth[0, [0, 2]].sum() == pytest.approx(1)
    assert not smooth[1, [1, 3, 4]].any()


def test_rows_are_taken_and_joined() -> None:
    again = GOLD.of(np.array([2, 3])).with_(GOLD.of(np.array([0])))
    assert again.shares.tolist() == SHARES[[2, 3, 0]].tolist()
    assert (GOLD.varies, GOLD.terms, GOLD.outputs) == (True, 2, 5)
    assert not GOLD.of(np.array([0])).varies
    assert GOLD.strata().tolist() == [3, 2, 4, 1]
