"""No bag of words tells the label; heedful_lab.studies.scenes_baselines measures it on the whole corpus."""

from __future__ import annotations

from random import Random

import pytest

from heedful.data.scenes import LABELS
from heedful.data.scenes.clauses import WordLimits, text_of
from heedful.data.scenes.meaning import label_of
from heedful.data.scenes.pairings import PAIRINGS


@pytest.mark.parametrize("name", PAIRINGS)
def test_premises_of_one_bag_meet_every_hypothesis_with_all_labels(name: str) -> None:
    random = Random(3)
    for _ in range(50):
        choice = PAIRINGS[name](random, WordLimits())
        assert len({tuple(sorted(text_of(premise).split())) for premise in choice.premises}) == 1
        assert len(choice.hypotheses) >= 4
        for hypothesis in choice.hypotheses:
            assert {label_of(premise, hypothesis) for premise in choice.premises} == set(LABELS)
