"""What classifiers without word order get out of the generated corpus."""

from __future__ import annotations

import pytest

from heedful.data.scenes import generate
from heedful_lab.studies.scenes_baselines import accuracies


@pytest.mark.study
def test_classifiers_without_word_order_stay_under_sixty_per_cent() -> None:
    corpus = generate()
    scores = accuracies(corpus["train"].examples, corpus["test"].examples)
    assert len(scores) == 6
    assert max(scores.values()) < 0.6


def test_a_linear_classifier_is_near_chance() -> None:
    corpus = generate(3_000, 0, 600)
    scores = accuracies(corpus["train"].examples, corpus["test"].examples, networks=False)
    assert len(scores) == 3
    assert max(scores.values()) < 0.45
