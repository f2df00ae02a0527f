from __future__ import annotations

import numpy as np
import pytest

from heedful.tasks.class_costs import figures

GOLD, ANSWERED = np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])


def test_the_mean_cost_counts_examples_by_their_weights() -> None:
    plain = figures(GOLD, ANSWERED, None, {"b": 10}, "ab")
    assert (plain["accuracy"], plain["cost"]) == (0.5, (10 + 1) / 4)
    heavy = figures(GOLD, ANSWERED, np.array([1.0, 3.0, 0.0, 0.0]), {"b": 10}, "ab")
    assert (heavy["accuracy"], heavy["cost"]) == (pytest.approx(0.25), pytest.approx(7.5))
    assert "cost" not in figures(GOLD, ANSWERED, None, {}, "ab")
