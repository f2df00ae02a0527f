"""Pairs of entailment become contradictions by one changed word, and only where the rule says what it means."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.data.examples import Example
from heedful_lab.studies.inference_elsewhere import Measured, contrasts


@pytest.mark.parametrize(
    ("premise", "hypothesis", "changed"),
    [
        ("A man in a blue shirt runs.", "The shirt is blue.", "The shirt is yellow."),
        ("Two dogs run .", "Two dogs move .", "Three dogs move ."),
        ("A man and a woman eat.", "A man eats.", None),  # both are in the scene
        ("A person runs.", "A man runs.", None),  # the premise does not have the word
        ("A dog runs.", "Something runs.", None),
        ("A pink hat, a red coat", "The coat is red.", None),
    ],
)
def test_a_word_is_changed_where_the_rule_holds(premise: str, hypothesis: str, changed: str | None) -> None:
    found = list(contrasts([Example((premise, hypothesis), target="entailment")]))
    assert found == ([] if changed is None else [((premise, hypothesis), (premise, changed))])
    assert not list(contrasts([Example((premise, hypothesis), target="neutral")]))


def test_the_figures_by_hand() -> None:
    shares = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    name, pairs, accuracy, interval, largest, ece = Measured("x", shares, np.array([0, 0, 1, 1])).row()
    assert (name, pairs, accuracy, largest) == ("x", "4", "75.0", "50.0")
    assert interval == "30.1 to 95.4"
    assert float(ece) == pytest.approx((0.1 + 0.2 + 0.3 + 0.6) / 4, abs=5e-4)
