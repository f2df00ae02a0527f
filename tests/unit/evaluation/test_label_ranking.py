"""The ranking of labels is scikit-learn's figure, computed for all rows at once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score

from heedful.evaluation import label_sets
from heedful.evaluation.label_sets import label_metrics


@pytest.mark.parametrize("labels", [1, 2, 7, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_ranking_is_that_of_scikit_learn(
    labels: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(labels)
    gold = draw.random((50, labels)) < draw.random((50, 1))
    gold[0], gold[1] = False, True
    scores = draw.normal(size=(50, labels)).round(1)  # many are equal
    scores[2] = 0.5
    weights = draw.integers(0, 3, 50).astype(np.float64) if weighted else None
    monkeypatch.setattr(label_sets, "_CELLS", 20 * labels)  # three blocks of rows
    found = label_metrics(gold, gold, scores, weights)["lrap"]
    assert found == pytest.approx(
        label_ranking_average_precision_score(gold, scores, sample_weight=weights), abs=1e-12
    )
    assert label_metrics(gold[:, :0], gold[:, :0], scores[:, :0])["lrap"] == 1
