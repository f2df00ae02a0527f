"""No bag of words tells the label; scripts/scenes_baselines.py measures it on the whole corpus."""

from __future__ import annotations

import runpy
from pathlib import Path
from random import Random

import pytest

from heedful.data.scenes import LABELS, generate
from heedful.data.scenes.clauses import Words, text_of
from heedful.data.scenes.meaning import label_of
from heedful.data.scenes.pairings import PAIRINGS

SCRIPT = Path(__file__).parents[4] / "scripts" / "scenes_baselines.py"


@pytest.mark.parametrize("name", PAIRINGS)
def test_premises_of_one_bag_meet_every_hypothesis_with_all_labels(name: str) -> None:
    random = Random(3)
    for _ in range(50):
        choice = PAIRINGS[name](random, Words())
        assert len({tuple(sorted(text_of(premise).split())) for premise in choice.premises}) == 1
        assert len(choice.hypotheses) >= 4
        for hypothesis in choice.hypotheses:
            assert {label_of(premise, hypothesis) for premise in choice.premises} == set(LABELS)


@pytest.mark.study
def test_classifiers_without_word_order_stay_under_sixty_per_cent() -> None:
    measured = runpy.run_path(str(SCRIPT))
    corpus = generate()
    scores = measured["accuracies"](corpus["train"].examples, corpus["test"].examples)
    assert len(scores) == 6
    assert max(scores.values()) < 0.6


def test_a_linear_classifier_is_near_chance() -> None:
    pytest.importorskip("sklearn")
    measured = runpy.run_path(str(SCRIPT))
    corpus = generate(3_000, 0, 600)
    scores = measured["accuracies"](corpus["train"].examples, corpus["test"].examples, networks=False)
    assert len(scores) == 3
    assert max(scores.values()) < 0.45
