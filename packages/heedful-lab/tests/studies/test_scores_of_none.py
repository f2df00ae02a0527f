"""The study of other scores of texts of no class: that each is large where a text is unlike the known ones."""

from __future__ import annotations

import numpy as np
import pytest

from heedful_lab.studies.scores_of_none import Asked, by_logits, by_vectors, table

DRAW = np.random.default_rng(0)


def test_every_score_of_logits_is_larger_where_no_class_stands_out() -> None:
    found = by_logits(np.array([[9.0, 0, 0], [1.0, 0.9, 0.8]]), 2.0)
    for name, (sure, unsure) in found.items():
        assert sure < unsure, name
    assert found["energy"][0] == pytest.approx(-np.log(np.exp(9) + 2))
    assert found["largest probability"][0] == pytest.approx(-np.exp(4.5) / (np.exp(4.5) + 2))


def test_every_score_of_vectors_is_larger_for_one_that_is_unlike_all() -> None:
    classes = np.arange(60) % 2
    training = DRAW.normal(0, 0.1, (60, 4)).astype(np.float32)
    training[np.arange(60), classes] += 1
    rows = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0]], np.float32)
    for name, (near, far) in by_vectors(rows, training, classes).items():
        assert near < far, name


def test_thresholds_are_those_of_dev() -> None:
    dev = Asked({"s": np.array([0.0, 1, 2, 3, 9])}, np.array([True] * 4 + [False]), 4)
    test = Asked({"s": np.array([0.0, 2.9, 3.5, 1.0])}, np.array([True, False, True, False]), 3)
    assert dev.auroc("s") == 1.0
    *_, line = table(dev, test, 1.0)
    # three in scope, of which two are kept and one of these is right; the one out of scope is not seen
    assert line == "| s | 100.0 | 33.3 | 33.3 | 66.7 | 0.0 |"
