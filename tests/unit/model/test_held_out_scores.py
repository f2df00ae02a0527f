"""Scores of rows that chose nothing, as they are kept among the figures of a model."""

import json

import numpy as np
import pytest

from heedful.errors import ArtifactError
from heedful.model.held_out_scores import HeldScores, held_scores


@pytest.mark.parametrize("source", ["out_of_fold", "held_out"])
@pytest.mark.parametrize("size", [1.0, 250_000.0])
def test_scores_come_back(source, size) -> None:
    logits = np.array([[0.5, -0.25], [1.0, 0.75]], np.float32) * np.float32(size)
    kept = HeldScores(np.array([3, 4]), np.array([0, 1]), logits, source)
    found = held_scores(json.loads(json.dumps({source: kept.as_dict()})))
    assert found is not None
    assert found.source == source
    assert np.array_equal(found.logits, logits)  # prices are no infinities
    assert found.gold.tolist() == [0, 1]
    assert found.rows.tolist() == [3, 4]


def test_rows_that_were_set_aside_come_first() -> None:
    one = HeldScores(np.array([1]), np.array([0]), np.ones((1, 2), np.float32))
    other = HeldScores(np.array([2]), np.array([1]), np.ones((1, 2), np.float32), "held_out")
    found = held_scores({"out_of_fold": one.as_dict(), "held_out": other.as_dict()})
    assert found is not None
    assert found.rows.tolist() == [2]
    assert held_scores({}) is None


@pytest.mark.parametrize(
    "change", [{"logits": "!"}, {"shape": [9, 9]}, {"gold": [1]}, {"gold": [[1], [1, 2]]}, {"kind": "<f8"}]
)
def test_damaged_scores_are_refused_in_one_line(change) -> None:
    kept = HeldScores(np.array([3, 4]), np.array([0, 1]), np.ones((2, 2), np.float32)).as_dict()
    with pytest.raises(ArtifactError, match="out_of_fold") as refused:
        held_scores({"out_of_fold": {**kept, **change}})
    assert "\n" not in str(refused.value)


def test_weights_come_back_and_rows_of_weight_0_are_none() -> None:
    logits = np.array([[0.5, -0.25], [1.0, 0.75], [0.0, 1.0]], np.float32)
    weights = np.array([0.5, 0, 2.5], np.float32)
    kept = HeldScores(np.array([3, 4, 5]), np.array([0, 1, 1]), logits, weights=weights)
    found = held_scores(json.loads(json.dumps({"out_of_fold": kept.as_dict()})))
    assert found.weights.tolist() == [0.5, 0, 2.5]
    assert found.counting().rows.tolist() == [3, 5]
    assert found.counting().weights.tolist() == [0.5, 2.5]
    for wrong in ([1.0], [1.0, -1.0, 1.0], [1.0, float("nan"), 1.0]):
        with pytest.raises(ArtifactError, match="weights"):
            held_scores({"out_of_fold": {**kept.as_dict(), "weights": wrong}})
